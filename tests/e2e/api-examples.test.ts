/**
 * The `@example` blocks of the public API run as they are, on the built package.
 *
 * A program must exit with 0 and print what the comment after each `console.log` says. `PENDING` are exports without an example:
 * it may only get shorter.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { tempDir } from '../../src/testing/temp-dir.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const AREAS = ['src/library', 'src/ai-sdk', 'src/contract', 'src/client'];
const ENTRIES = ['library/index.js', 'library/client.js', 'ai-sdk/index.js', 'contract/index.js'];

const examples = AREAS.flatMap((area) => readdirSync(join(ROOT, area)).map((name) => `${area}/${name}`))
  .filter((file) => /(?<!\.test)\.ts$/.test(file))
  .flatMap((file) => examplesIn(readFileSync(join(ROOT, file), 'utf8')));

test.each(examples)('the example of $name runs', async ({ program, printed }) => {
  await using dir = await tempDir({ 'example.mjs': program, 'node_modules/': '' });
  symlinkSync(ROOT, dir.path('node_modules/workcell'));
  symlinkSync(join(ROOT, 'node_modules/zod'), dir.path('node_modules/zod'));
  const { stdout } = await promisify(execFile)(process.execPath, ['example.mjs'], { cwd: dir.root, timeout: 20_000 });
  expect(stdout.split('\n').slice(0, -1)).toEqual(printed);
});

/** Functions and classes that a user of the package calls, and that have no example yet. */
const PENDING = [
  ...['CallControl', 'CallError', 'ConfigError', 'Failure', 'announce', 'answer', 'asText', 'carrying', 'cleanText'],
  ...['configKeys', 'defineErrors', 'defineWorker', 'didYouMean', 'imageTypeOf', 'isFailedResult', 'isMap'],
  ...['makePrincipal', 'nearestName', 'parseConfig', 'readCatalogue', 'saysFailed', 'spellCaller', 'summariseErrors'],
  ...['takeContent', 'throughDoor', 'wholeFix', 'withClient', 'withContent'],
  ...['Watched', 'eventText', 'hasTooManyValues'],
];

test('every export that is called has an example, or is known not to', async () => {
  const modules = await Promise.all(
    ENTRIES.map((entry) => import(join(ROOT, 'dist', entry)) as Promise<Record<string, unknown>>),
  );
  const called = new Set(
    modules.flatMap((module) => Object.keys(module).filter((name) => typeof module[name] === 'function')),
  );
  for (const { name } of examples) called.delete(name);
  expect([...called].toSorted()).toEqual(PENDING.toSorted());
});

/** Each documented declaration that has an example: its name, the program, and the lines it prints. */
function examplesIn(source: string): { name: string; program: string; printed: string[] }[] {
  const documented = /\/\*\*((?:(?!\*\/)[^])*?)\*\/\nexport (?:async )?(?:function|class|const) (\w+)/g;
  return [...source.matchAll(documented)].flatMap(([, comment, name]) => {
    const block = /@example\n \* ```js\n([^]*?)\n \* ```/.exec(comment!)?.[1];
    if (block === undefined) return [];
    const program = block.replaceAll(/^ \* ?/gm, '');
    const printed = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line!);
    return [{ name: name!, program, printed }];
  });
}
