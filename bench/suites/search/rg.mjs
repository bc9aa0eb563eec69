/** Plain ripgrep over the same files: hidden ones too, no ignore files, output read and not even parsed. */
import { spawn } from 'node:child_process';

import { rgPath } from '@vscode/ripgrep';

/** Stops as our search does: at the match after the last that is wanted. */
export function rg(root, query, { isRegex = false, maxMatches = 1000 } = {}) {
  const args = [
    '--no-config',
    '-uu',
    '--no-messages',
    '-E',
    'none',
    '--color',
    'never',
    '--no-heading',
    '-n',
    '--column',
  ];
  const child = spawn(rgPath, [...args, isRegex ? '--crlf' : '-F', '-s', '-e', query, '--', '.'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let lines = 0;
  child.stdout.on('data', (chunk) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
    if (lines > maxMatches) child.kill('SIGKILL');
  });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', () => done(lines));
  });
}
