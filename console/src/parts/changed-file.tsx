/** One file of a change's diff. */
import { diffLines, type DiffFile } from '../changes/open-change.ts';
import { bytes } from '../format.ts';
import { Badge } from './layout.tsx';

export function ChangedFileRow({ file }: { file: DiffFile }) {
  const { path, kind, from, old_mode, new_mode, new_target, binary, too_large, size } = file;
  const facts = [
    from !== undefined && `from ${from}`,
    old_mode !== undefined && `mode ${old_mode} → ${new_mode}`,
    new_target !== undefined && `→ ${new_target}`,
    binary && `binary, ${bytes(size ?? 0)}`,
    too_large && 'too large to show',
  ].filter(Boolean);
  return (
    <article class="diff" aria-label={`Change of ${path}`}>
      <header>
        <span class="mono cut grow" title={path}>
          {path}
        </span>
        <span class="quiet cut">{facts.join(', ')}</span>
        <Badge kind={kind === 'added' ? 'ok' : 'write'}>{kind}</Badge>
      </header>
      <div class="hunk">
        {diffLines(file).map((line, at) => (
          <div key={at} class="diff-line" data-sign={line.charAt(0)}>
            <span class="number" />
            <span class="sign">{line.startsWith('-') ? '−' : line.charAt(0)}</span>
            <span>{line.slice(1)}</span>
          </div>
        ))}
      </div>
    </article>
  );
}
