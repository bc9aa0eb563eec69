/** One file with its line numbers, a window at a time, so that a file of any size opens at once. */
import { useEffect, useRef, useState } from 'preact/hooks';

import { bytes, clock } from '../format.ts';
import type { Query } from '../highlight.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { busState, call } from '../session.ts';
import { Painted } from './search-hits.tsx';

interface Window {
  content: string;
  size: number;
  mtime: number;
  is_utf8: boolean;
  line_from: number;
  total_lines?: number;
  next_line_from?: number;
}

interface Shown extends Omit<Window, 'content'> {
  lines: string[];
}

const WINDOW_BYTES = 262_144;
const WINDOW_LINES = 2_000;
/** A hit deeper than this opens a window around it instead of the beginning of the file. */
const LINES_BEFORE_HIT = 500;

export interface FileViewProps {
  path: string;
  line?: number;
  query?: Query;
}

export function FileView({ path, line, query }: FileViewProps) {
  const { file, error, load } = useFile(path, line);
  if (error !== undefined) return <FailureCard error={error} />;
  if (!file) return null;

  const changedMs = file.mtime * 1_000;
  return (
    <div class="column file-view">
      <header class="file-head">
        <span class="mono grow cut">{path}</span>
        <span class="quiet">
          {file.total_lines !== undefined && `${file.total_lines} lines · `}
          {bytes(file.size)} · changed {new Date(changedMs).toLocaleDateString()} {clock(changedMs)}
          {file.is_utf8 ? '' : ' · not UTF-8'}
        </span>
        <button type="button" class="plain" onClick={() => void load(file.line_from)}>
          reload
        </button>
      </header>
      <div class="code-lines scroll">
        {file.line_from > 1 && (
          <button type="button" class="plain" onClick={() => void load(1)}>
            from the beginning
          </button>
        )}
        <Lines file={file} line={line} query={query} />
        {file.next_line_from !== undefined && (
          <button type="button" class="plain" onClick={() => void load(file.next_line_from!, file)}>
            more
          </button>
        )}
      </div>
    </div>
  );
}

function Lines({ file, line, query }: { file: Shown; line?: number; query?: Query }) {
  const marked = useRef<HTMLDivElement>(null);
  useEffect(() => marked.current?.scrollIntoView({ block: 'center' }), [file, line]);
  return (
    <>
      {file.lines.map((text, at) => {
        const number = file.line_from + at;
        const isMarked = number === line;
        return (
          <div key={number} class="code-line" data-marked={isMarked ? '' : undefined} ref={isMarked ? marked : null}>
            <span class="number">{number}</span>
            <span>
              <Painted line={text} query={query} />
            </span>
          </div>
        );
      })}
    </>
  );
}

/** The part of the file that is shown. `load` starts at a line, or continues after the loaded part. */
function useFile(path: string, line: number | undefined) {
  const [file, setFile] = useState<Shown | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const load = async (from: number, before?: Shown) => {
    const to = from + WINDOW_LINES - 1;
    const request = { path, line_from: from, line_to: to, max_output_bytes: WINDOW_BYTES };
    try {
      const { content, ...rest } = await call<Window>('coder::read-file', request);
      const lines = content.replace(/\r?\n$/, '').split(/\r?\n/);
      setFile(
        before ? { ...rest, line_from: before.line_from, lines: [...before.lines, ...lines] } : { ...rest, lines },
      );
      setError(undefined);
    } catch (problem) {
      setError(problem);
    }
  };
  const isThere = (at: number) => file && at >= file.line_from && at < file.line_from + file.lines.length;
  useEffect(() => {
    if (busState.value !== 'open' || isThere(line ?? 1)) return;
    void load(line === undefined || line <= WINDOW_LINES ? 1 : line - LINES_BEFORE_HIT);
  }, [busState.value, line]);
  return { file, error, load };
}
