/** Search results: paths first, then lines by file, with the matches highlighted. */
import { highlight, highlightHit, type Hit, type Query, type Segment } from '../highlight.ts';
import { useListKeys } from '../keys.ts';
import { Row } from '../parts/layout.tsx';

export interface SearchReply {
  content_matches: ({ path: string; line: number } & Hit)[];
  path_matches: { path: string }[];
  truncated: boolean;
  files_searched?: number;
}

interface SearchHitsProps {
  query: Query;
  reply: SearchReply;
  open: string | undefined;
  /** Without a target nothing is open. */
  onOpen: (target?: string) => void;
}

export function SearchHits({ query, reply, open, onOpen }: SearchHitsProps) {
  const { content_matches: lines, path_matches: paths } = reply;
  useListKeys({
    keys: [...paths.map(({ path }) => path), ...lines.map(({ path, line }) => `${path}:${line}`)],
    open: onOpen,
    close: () => onOpen(),
  });
  return (
    <div class="hits">
      <p class="quiet pad">
        {lines.length} lines, {paths.length} paths{reply.truncated ? ' (there are more)' : ''}
        {reply.files_searched !== undefined && ` · ${reply.files_searched} files searched`}
      </p>
      {paths.map(({ path }) => (
        <Row key={path} id={path} isOpen={open === path} onOpen={() => onOpen(path)}>
          <span class="mono cut">
            <Painted line={path} query={query} />
          </span>
        </Row>
      ))}
      {lines.map(({ path, line, text, column }, at) => {
        const target = `${path}:${line}`;
        return (
          <div key={target}>
            {lines[at - 1]?.path !== path && <h3 class="mono cut">{path}</h3>}
            <Row id={target} isOpen={open === target} onOpen={() => onOpen(target)} class="hit">
              <span class="hit-line">{line}</span>
              <span class="mono cut">
                <Segments segments={highlightHit({ text, column }, query)} />
              </span>
            </Row>
          </div>
        );
      })}
    </div>
  );
}

export function Painted({ line, query }: { line: string; query: Query | undefined }) {
  if (!query) return <>{line}</>;
  return <Segments segments={highlight(line, query)} />;
}

function Segments({ segments }: { segments: Segment[] }) {
  return <>{segments.map(({ text, isHit }, at) => (isHit ? <mark key={at}>{text}</mark> : text))}</>;
}
