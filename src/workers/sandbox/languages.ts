/** The program and file name for each language. */
import { errors } from './errors.ts';

export interface Interpreter {
  /** Program and arguments; the file is appended. */
  command: string[];
  file: string;
}

const NODE = { command: ['node'], file: '/tmp/run.js' };
const PYTHON = { command: ['python3'], file: '/tmp/run.py' };
const SH = { command: ['/bin/sh'], file: '/tmp/run.sh' };

/** Only the image knows whether it has bash, so its sh checks. */
const BASH_OR_SH = 'if command -v bash >/dev/null; then exec bash "$0"; fi; exec /bin/sh "$0"';
const SHELL = { command: ['/bin/sh', '-c', BASH_OR_SH], file: '/tmp/run.sh' };

const BY_NAME = new Map<string, Interpreter>([
  ...['node', 'js', 'javascript'].map((name) => [name, NODE] as const),
  ...['python', 'py'].map((name) => [name, PYTHON] as const),
  ...['shell', 'bash'].map((name) => [name, SHELL] as const),
  ['sh', SH],
]);

/** Any other name is the program itself. */
export function interpreterOf(lang: string): Interpreter {
  if (lang.trim() === '' || /\s/.test(lang)) {
    throw errors.fail('S001', {
      problem: `lang must be node, python, shell or the path of a program (got ${JSON.stringify(lang)})`,
    });
  }
  return BY_NAME.get(lang) ?? { command: [lang], file: '/tmp/run.txt' };
}
