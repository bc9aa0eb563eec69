/** Which program runs which language, and where its code goes in the sandbox. */
import { errors } from './errors.ts';

export interface Interpreter {
  program: string;
  file: string;
}

const NODE = { program: 'node', file: '/tmp/run.js' };
const PYTHON = { program: 'python3', file: '/tmp/run.py' };
const SHELL = { program: '/bin/sh', file: '/tmp/run.sh' };

const BY_NAME = new Map<string, Interpreter>([
  ...['node', 'js', 'javascript'].map((name) => [name, NODE] as const),
  ...['python', 'py'].map((name) => [name, PYTHON] as const),
  ...['shell', 'sh', 'bash'].map((name) => [name, SHELL] as const),
]);

/** Any other name is the program itself. */
export function interpreterOf(lang: string): Interpreter {
  if (lang.trim() === '' || /\s/.test(lang)) {
    throw errors.fail('S001', {
      problem: `lang must be node, python, shell or the path of a program (got ${JSON.stringify(lang)})`,
    });
  }
  return BY_NAME.get(lang) ?? { program: lang, file: '/tmp/run.txt' };
}
