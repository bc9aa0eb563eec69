/** Files that a call changed, as its worker reported them: added, removed and context lines. */
import { useState } from 'preact/hooks';

import type { Change, ChangeHunk } from '../../../src/protocol/change.ts';
import { lineCounts } from '../changes/records.ts';
import { bytes } from '../format.ts';
import { hashOf } from '../route.ts';
import { Badge } from './layout.tsx';

/** Lines shown of one hunk until expanded. */
const SHOWN_LINES = 200;
const KINDS: Record<Change['kind'], string> = {
  created: 'ok',
  modified: 'write',
  deleted: 'delete',
  renamed: 'write',
  mode: 'plain',
};

export function DiffView({ changes }: { changes: Change[] }) {
  return (
    <>
      {changes.map((change, at) => (
        <FileDiff key={at} change={change} />
      ))}
    </>
  );
}

/** A relative path is one of the workspace. */
function FileDiff({ change }: { change: Change }) {
  const { path, kind, hunks = [] } = change;
  return (
    <article class="diff" aria-label={`Change of ${path}`}>
      <header>
        <span class="mono cut grow" title={path}>
          {path.startsWith('/') ? path : <a href={hashOf({ page: 'workspace', open: path })}>{path}</a>}
        </span>
        <span class="quiet cut">{noteOf(change)}</span>
        <LineCounts change={change} />
        <Badge kind={KINDS[kind]}>{kind}</Badge>
      </header>
      {hunks.map((hunk, at) => (
        <HunkLines key={at} hunk={hunk} />
      ))}
    </article>
  );
}

export function LineCounts({ change }: { change: Change }) {
  const { added, removed } = lineCounts(change);
  return (
    <>
      {added > 0 && <span class="diff-count">+{added}</span>}
      {removed > 0 && (
        <span class="diff-count" data-sign="-">
          −{removed}
        </span>
      )}
    </>
  );
}

/** Details that the lines do not show. */
function noteOf({ kind, from, is_directory, is_cut, hunks, before, after }: Change): string {
  if (from !== undefined) return `from ${from}`;
  if (is_directory) return 'a directory';
  if (is_cut) return 'not all lines are shown';
  if (hunks !== undefined || kind === 'mode') return '';
  if (after) return bytes(after.bytes);
  return before ? '' : 'no lines to show';
}

function HunkLines({ hunk: { after_line, lines } }: { hunk: ChangeHunk }) {
  const [shown, setShown] = useState(SHOWN_LINES);
  let next = after_line;
  const numbers = lines.map((line) => (line.startsWith('-') ? undefined : next++));
  return (
    <div class="hunk">
      {lines.slice(0, shown).map((line, at) => (
        <div key={at} class="diff-line" data-sign={line.charAt(0)}>
          <span class="number">{numbers[at]}</span>
          <span class="sign">{line.startsWith('-') ? '−' : line.charAt(0)}</span>
          <span>{line.slice(1)}</span>
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
