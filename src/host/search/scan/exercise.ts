/**
 * Warm-up searches through the program's own files, in a process that waits for its first task.
 *
 * Code that has run a few hundred times is several times as fast as cold code, and the first regex takes as long as a
 * thousand files, because the crate is compiled.
 */
import { fileURLToPath } from 'node:url';

import type { ByteString } from '../../text/byte-string.ts';
import { realPath } from '../../jail/pin-by-path.ts';
import { compileRegex } from '../../regex/index.ts';
import { enteredDirsBelow, leaveEnteredDir } from '../../walk/walk-dir-by-chdir.ts';
import { calledDirsBelow } from '../../walk/walk-dir-by-syscalls.ts';
import { FileSearch } from './file-search.ts';
import { FindingsWriter } from '../findings.ts';
import type { Workspace } from './scan-messages.ts';
import { TreeScan } from './tree-scan.ts';

/** Rounds through some hundred files, each followed by a turn for other work. */
const ROUNDS = 4;
const FILES_A_ROUND = 150;

const LITERAL = {
  pattern: 'a literal that is in this file only',
  isRegex: false,
  ignoreCase: false,
  wantsContent: true,
  wantsPaths: false,
  maxMatches: 100,
  maxLineBytes: 1000,
  contextLines: 0,
  maxFileBytes: 1_000_000,
};
const REGEX = { ...LITERAL, pattern: '\\bexport\\s+\\w+_none\\b|[A-Z]{4}-[0-9]{3}', isRegex: true };

/** Continues as long as `isWanted`. */
export function exercise({ mode, opening }: Workspace, isWanted: () => boolean, round = 0): void {
  if (round === ROUNDS || !isWanted()) return;
  const root = realPath(fileURLToPath(new URL('../..', import.meta.url)));
  const openDir = calledDirsBelow({ root, mode, opening }, enteredDirsBelow(root, mode));
  const query = round % 2 === 0 ? LITERAL : REGEX;
  const regex = query.isRegex ? compileRegex(query.pattern) : undefined;
  const start = '' as ByteString;
  const scan = new TreeScan(new FileSearch(query, regex), openDir, [{ dir: start }], { start, mayBlock: true });
  try {
    scan.run(new FindingsWriter(query), (done) => done >= FILES_A_ROUND);
  } finally {
    scan.leave();
    leaveEnteredDir();
  }
  setImmediate(() => exercise({ mode, opening, root }, isWanted, round + 1));
}
