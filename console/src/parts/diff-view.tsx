/** Files that a call changed, each with its lines: what came, what went, and what stands around. */
import { useState } from 'preact/hooks';

import type { FileChange, Hunk } from '../changes/file-change.ts';
import type { DiffLine } from '../changes/line-diff.ts';
import { hashOf } from '../route.ts';
import { Badge } from './layout.tsx';

/** Of one hunk, until more are asked for. */
const SHOWN_LINES = 200;
const KINDS: Record<FileChange['did'], string> = {
  created: 'ok',
  written: 'write',
  edited: 'write',
  deleted: 'delete',
  moved: 'write',
  copied: 'write',
  'asked for': 'plain',
};

export function DiffView({ changes }: { changes: FileChange[] }) {
  return (
    <>
      {changes.map((change, at) => (
        <FileDiff key={at} change={change} />
      ))}
    </>
  );
}

/** A path that is not absolute is one of the workspace. */
function FileDiff({ change: { path, did, hunks, note, failure } }: { change: FileChange }) {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: DiffLine['sign']) => lines.filter((line) => line.sign === sign).length;
  return (
    <article class="diff" aria-label={`Change of ${path}`}>
      <header>
        <span class="mono cut grow" title={path}>
          {path.startsWith('/') ? path : <a href={hashOf({ page: 'workspace', open: path })}>{path}</a>}
        </span>
        {note !== undefined && <span class="quiet cut">{note}</span>}
        {count('+') > 0 && <span class="diff-added">+{count('+')}</span>}
        <Badge kind={failure === undefined ? KINDS[did] : 'failed'}>{failure === undefined ? did : 'failed'}</Badge>
      </header>
      {failure !== undefined && <p class="diff-failure">{failure}</p>}
      {hunks.map((hunk, at) => (
        <HunkLines key={at} hunk={hunk} />
      ))}
    </article>
  );
}

function HunkLines({ hunk: { title, lines } }: { hunk: Hunk }) {
  const [shown, setShown] = useState(SHOWN_LINES);
  return (
    <div class="hunk">
      {title !== undefined && <p class="hunk-title mono">{title}</p>}
      {lines.slice(0, shown).map((line, at) => (
        <div key={at} class="diff-line" data-sign={line.sign} data-untold={line.isUntold ? '' : undefined}>
          <span class="number">{line.number}</span>
          <span class="sign">{line.sign === '-' ? '−' : line.sign}</span>
          <span>{line.text}</span>
        </div>
      ))}
      {lines.length > shown && (
        <button type="button" class="plain" onClick={() => setShown(lines.length)}>
          {lines.length - shown} more lines
        </button>
      )}
    </div>
  );
}
