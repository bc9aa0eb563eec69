/** bench-agent task 8: thousands of lines of output with four failures among them, of a compiler that checks a whole repository. */
import { process, read, sh } from '../ways.mjs';

const BROKEN = ['apps/config.py', 'db/models/base.py', 'forms/fields.py', 'utils/html.py'].map(
  (path) => `django/${path}`,
);
const CHECK = 'python3 -m compileall .';

export const longOutput = {
  name: 'task 8: 3,300 lines of output',
  repository: 'django',
  files: (copy) => Object.fromEntries(BROKEN.map((path) => [path, `${read(copy, path)}\ndef broken(:\n`])),
  coding: (call) => call('run', { command: CHECK }),
  all: (call) => sh(call, `${CHECK} 2>&1 | grep -A3 '^\\*\\*\\*'`),
  commander: (call, root) => process(call, root, `${CHECK} 2>&1 | grep -A3 '^\\*\\*\\*'`),
  isDone: (_, [last]) => BROKEN.every((path) => last.includes(path)),
};
