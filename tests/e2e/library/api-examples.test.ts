/**
 * The `@example` blocks of the public API run as they are, on the built package.
 *
 * A program must end and print what the comment after each `console.log` says. All run in one process, each in a folder of
 * its own: starting a process for each takes longer than the examples.
 */
import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { beforeAll, expect, test } from 'vitest';

import { tempDir } from '../../../src/testing/temp-dir.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The modules that `package.json` exports, and the source of each. */
const ENTRIES: Record<string, string> = {
  workcell: 'src/library/index.ts',
  'workcell/client': 'src/library/client.ts',
  'workcell/contract': 'src/library/contract.ts',
  'workcell/ai-sdk': 'src/ai-sdk/index.ts',
};

const exported = Object.entries(ENTRIES).flatMap(([entry, file]) =>
  valuesOf(file).map((name) => ({ entry, file, name })),
);
const examples = [...new Map(exported.map(({ file, name }) => [declarationOf(file, name), name]))].map(
  ([comment, name], at) => ({ name, folder: `example-${at}`, ...exampleIn(comment) }),
);

const RUNNER = `
for (const name of process.argv.slice(2)) {
  console.log('\\0' + name);
  process.chdir(name);
  await import('./' + name + '/example.mjs').catch((error) => console.log(error));
  process.chdir('..');
}
for (const entry of ${JSON.stringify(Object.keys(ENTRIES))}) {
  console.log('\\0' + entry);
  for (const name of Object.keys(await import(entry))) console.log(name);
}`;

/** The lines that each example printed, and the names that each entry exports. */
const printedBy = new Map<string, string[]>();

beforeAll(async () => {
  const programs = Object.fromEntries(examples.map(({ folder, program }) => [`${folder}/example.mjs`, program]));
  await using dir = await tempDir({ ...programs, 'run.mjs': RUNNER, 'node_modules/': '' });
  symlinkSync(ROOT, dir.path('node_modules/workcell'));
  symlinkSync(join(ROOT, 'node_modules/zod'), dir.path('node_modules/zod'));
  const folders = examples.map(({ folder }) => folder);
  const { stdout } = await promisify(execFile)(process.execPath, ['run.mjs', ...folders], { cwd: dir.root });
  for (const part of stdout.split('\0').slice(1)) {
    const [name, ...lines] = part.trimEnd().split('\n');
    printedBy.set(name!, lines);
  }
});

test('the entries are the exports of package.json', () => {
  const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, string | { default: string }> };
  const modules = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [[posix.join('workcell', path), target.default.replace('./dist/', 'src/').replace(/js$/, 'ts')]],
  );
  expect(ENTRIES).toEqual(Object.fromEntries(modules));
});

test.each(examples)('the example of $name runs, and prints what it says', ({ folder, program, printed }) => {
  expect(printed.length).toBeGreaterThan(0);
  expect(printed.length).toBe(program.split('console.log(').length - 1);
  expect(printedBy.get(folder)).toEqual(printed);
});

test.each(Object.keys(ENTRIES))('the values that %s exports are those of its source', (entry) => {
  const listed = exported.filter((one) => one.entry === entry).map(({ name }) => name);
  expect(printedBy.get(entry)!.toSorted()).toEqual(listed.toSorted());
});

/** The names of values that a file exports. */
function valuesOf(file: string): string[] {
  const source = read(file);
  const listed = listsOf(source).flatMap(({ names }) => names);
  const declared = Array.from(
    source.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm),
    ([, name]) => name!,
  );
  return [...listed, ...declared];
}

function listsOf(source: string): { names: string[]; from: string; comment: string }[] {
  const lists = source.matchAll(/(\/\*\*(?:(?!\*\/)[^])*\*\/\n)?^export \{([^}]*)\} from '([^']+)'/gm);
  return Array.from(lists, ([, comment = '', list, from]) => {
    const names = list!.split(',').map((name) => name.trim());
    return { names: names.filter((name) => /^\w+$/.test(name)), from: from!, comment };
  });
}

/** The comment of the declaration that a file exports by this name, itself or from another; that of the export wins. */
function declarationOf(file: string, name: string): string {
  const source = read(file);
  const list = listsOf(source).find(({ names }) => names.includes(name));
  if (list?.comment.includes('@example')) return list.comment;
  if (list) {
    const from = list.from.startsWith('#')
      ? `src/${list.from.slice(1)}/index.ts`
      : posix.join(dirname(file), list.from);
    return declarationOf(from, name);
  }
  const declared = new RegExp(`(/\\*\\*(?:(?!\\*/)[^])*\\*/)\\nexport (?:async )?(?:function|class|const) ${name}\\b`);
  return declared.exec(source)?.[1] ?? `${file} exports ${name} without a comment`;
}

/** The program of an example, and the lines that it says it prints. */
function exampleIn(comment: string): { program: string; printed: string[] } {
  const block = /@example\n \* ```js\n([^]*?)\n \* ```/.exec(comment)?.[1] ?? '';
  const program = block.replaceAll(/^ \* ?/gm, '');
  const printed = Array.from(
    program.matchAll(/console\.log\((?:(?!console\.log)[^])*?\); \/\/ (.*)$/gm),
    ([, line]) => line!,
  );
  return { program, printed };
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
