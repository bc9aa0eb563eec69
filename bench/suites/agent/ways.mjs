/** Calls that several tasks send to a server: a shell line and an exact replacement, in the words of each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const read = (root, path) => readFileSync(join(root, path), 'utf8');

/** A shell line through profile `all`. */
export const sh = (call, line) => call('shell_exec', { script: line, timeout_ms: 120_000 });

/** A shell line through desktop-commander, which has no working directory. */
export const process = (call, root, line, timeout_ms = 120_000) =>
  call('start_process', { command: `cd ${root} && ${line}`, timeout_ms });

/** One replacement that has to match once, through profile `all`. */
export const replace = (path, pattern, replacement) => ({
  path,
  ops: [{ op: 'replace', pattern, replacement, expect_matches: 1 }],
});

/** The same through server-filesystem. */
export const editFile = (call, root, path, ...edits) =>
  call('edit_file', {
    path: join(root, path),
    edits: edits.map(([oldText, newText]) => ({ oldText, newText })),
  });
