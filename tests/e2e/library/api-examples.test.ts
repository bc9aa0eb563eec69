/**
 * The `@example` blocks of the public API run as they are, on the built package.
 *
 * A program must end and print what the comment after each `console.log` says. All run in one process, each in a folder of
 * its own: starting a process for each takes longer than the examples.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { beforeAll, expect, test } from 'vitest';

import { tempDir } from '../../../src/testing/temp-dir.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const AREAS = ['src/library', 'src/ai-sdk', 'src/contract'];

const RUNNER = `
for (const name of process.argv.slice(2)) {
  console.log('\\0' + name);
  process.chdir(name);
  await import('./' + name + '/example.mjs').catch((error) => console.log(error));
  process.chdir('..');
}
console.log('\\0exports');
for (const entry of ['', '/client', '/contract', '/ai-sdk']) {
  for (const name of Object.keys(await import('workcell' + entry))) console.log(name);
}`;

const examples = AREAS.flatMap((area) =>
  readdirSync(join(ROOT, area), { recursive: true }).map((name) => `${area}/${String(name)}`),
)
  .filter((file) => /(?<!\.test)\.ts$/.test(file))
  .flatMap((file) => examplesIn(readFileSync(join(ROOT, file), 'utf8')));

/** The lines that each example printed, and the names that the package exports. */
const printedBy = new Map<string, string[]>();

beforeAll(async () => {
  const programs = Object.fromEntries(examples.map(({ name, program }) => [`${name}/example.mjs`, program]));
  await using dir = await tempDir({ ...programs, 'run.mjs': RUNNER, 'node_modules/': '' });
  symlinkSync(ROOT, dir.path('node_modules/workcell'));
  symlinkSync(join(ROOT, 'node_modules/zod'), dir.path('node_modules/zod'));
  const names = examples.map(({ name }) => name);
  const { stdout } = await promisify(execFile)(process.execPath, ['run.mjs', ...names], { cwd: dir.root });
  for (const part of stdout.split('\0').slice(1)) {
    const [name, ...lines] = part.trimEnd().split('\n');
    printedBy.set(name!, lines);
  }
});

test.each(examples)('the example of $name runs', ({ name, printed }) => {
  expect(printedBy.get(name)).toEqual(printed);
});

test('every value that the package exports has an example', () => {
  const shown = new Set(examples.map(({ name }) => name));
  const exported = printedBy.get('exports')!;
  expect(exported).toContain('createWorkcell');
  expect(exported.filter((name) => !shown.has(name))).toEqual([]);
});

/** Each documented declaration that has an example: its name, the program, and the lines it prints. */
function examplesIn(source: string): { name: string; program: string; printed: string[] }[] {
  const documented = /\/\*\*((?:(?!\*\/)[^])*?)\*\/\nexport (?:async )?(?:function |class |const |\{ )(\w+)/g;
  return [...source.matchAll(documented)].flatMap(([, comment, name]) => {
    const block = /@example\n \* ```js\n([^]*?)\n \* ```/.exec(comment!)?.[1];
    if (block === undefined) return [];
    const program = block.replaceAll(/^ \* ?/gm, '');
    const printed = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line!);
    return [{ name: name!, program, printed }];
  });
}
