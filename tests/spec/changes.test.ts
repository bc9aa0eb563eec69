/** The reported file changes of calls, compared with the files themselves. */
import { chmodSync, readFileSync } from 'node:fs';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { WorkerDef } from '#contract';
import { ChangeSchema, type Change } from '#protocol';
import { rounds, run, tempDir, type TempDir } from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';

const TEN = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join('');
const workers: Pick<WorkerDef, 'functions'>[] = [coder, filesystem, shell];
const functions = workers.flatMap((worker) => worker.functions);

async function changesBy(id: string, payload: object, dir: TempDir): Promise<Change[]> {
  const configs: Record<string, object> = {
    coder: { base_path: dir.root },
    filesystem: { paths: [dir.root] },
    shell: { fs: { host_root: dir.root } },
  };
  const fn = functions.find((one) => one.id === id)!;
  const changes: Change[] = [];
  await run(fn, payload, { ...configs[id.split('::')[0]!] }, { changes });
  for (const change of changes) expect(ChangeSchema.strict().parse(change)).toEqual(change);
  return changes;
}

/** The text with the hunks applied: the expected content of the file. */
function patched(text: string, { hunks = [] }: Change): string {
  const old = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const now: string[] = [];
  let at = 0;
  for (const { before_line, lines } of hunks) {
    now.push(...old.slice(at, before_line - 1));
    at = before_line - 1;
    for (const line of lines) {
      if (line.startsWith('+')) now.push(line.slice(1));
      else expect(old[at++]).toBe(line.slice(1));
      if (line.startsWith(' ')) now.push(line.slice(1));
    }
  }
  return [...now, ...old.slice(at)].map((line) => `${line}\n`).join('');
}

test('bus.P19 an edit of lines: before and after, with the lines around', async () => {
  await using dir = await tempDir({ f: TEN });
  const ops = [{ op: 'update_lines', from_line: 8, to_line: 9, content: 'eight\nnine\n' }];
  const [change, ...others] = await changesBy('coder::update-file', { files: [{ path: 'f', ops }] }, dir);

  expect(change).toEqual({
    path: 'f',
    kind: 'modified',
    before: { bytes: 71, version: expect.stringMatching(/^sha256:/) },
    after: { bytes: 68, version: expect.stringMatching(/^sha256:/) },
    hunks: [
      {
        before_line: 5,
        after_line: 5,
        lines: [' line 5', ' line 6', ' line 7', '-line 8', '-line 9', '+eight', '+nine', ' line 10'],
      },
    ],
  });
  expect(others).toEqual([]);
  expect(patched(TEN, change!)).toBe(readFileSync(dir.path('f'), 'utf8'));
});

const line = fc.constantFrom('a', 'b', 'c', '', '    x', '+ y', '- z');
const text = fc.array(line, { maxLength: 60, size: 'max' }).map((lines) => lines.map((one) => `${one}\n`).join(''));
/** Most lines are in both, so that hunks have lines between them. */
const side = fc.oneof({ weight: 12, arbitrary: fc.constant('both') }, fc.constantFrom('before', 'after'));
const edited = fc
  .array(fc.tuple(line, side), { maxLength: 60, size: 'max' })
  .map((lines) =>
    ['before', 'after'].map((name) =>
      lines.map(([one, of]) => (of === 'both' || of === name ? `${one}\n` : '')).join(''),
    ),
  );

test('the hunks of any two texts make one of the other', async () => {
  await using dir = await tempDir({});
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.tuple(text, text), edited), async ([before = '', after = '']) => {
      dir.add({ f: before });
      const [change] = await changesBy('filesystem::write', { path: 'f', content: after }, dir);
      expect(change ? patched(before, change) : before).toBe(after);
    }),
    { numRuns: rounds(30, 100, 1000) },
  );
});

test.each<[string, object, Partial<Change>[]]>([
  ['coder::create-file', { files: [{ path: 'new', content: 'a\nb\n' }] }, [{ path: 'new', kind: 'created' }]],
  ['coder::create-file', { files: [{ path: 'f', content: 'x', overwrite: true }] }, [{ path: 'f', kind: 'modified' }]],
  ['coder::create-file', { files: [{ path: 'f', content: 'x' }] }, []],
  ['coder::delete-file', { paths: ['f', 'never'] }, [{ path: 'f', kind: 'deleted' }]],
  ['coder::delete-file', { paths: ['d'], recursive: true }, [{ path: 'd', kind: 'deleted', is_directory: true }]],
  ['filesystem::edit', { path: 'f', old_string: 'line 3', new_string: 'three' }, [{ kind: 'modified' }]],
  ['filesystem::edit', { path: 'f', old_string: 'not there', new_string: 'x' }, []],
  ['filesystem::insert', { path: 'f', line: 1, content: 'zero\n' }, [{ kind: 'modified' }]],
  ['filesystem::mkdir', { path: 'm' }, [{ kind: 'created', is_directory: true }]],
  ['filesystem::rm', { path: 'f' }, [{ kind: 'deleted' }]],
  ['filesystem::mv', { source: 'f', destination: 'g' }, [{ kind: 'renamed', from: 'f', path: 'g' }]],
  ['filesystem::cp', { source: 'f', destination: 'g' }, [{ kind: 'created', path: 'g' }]],
  ['filesystem::read', { path: 'f' }, []],
  [
    'shell::fs::write',
    { path: 'new', content: 'a\n' },
    [{ kind: 'created', after: expect.objectContaining({ bytes: 2 }) }],
  ],
  ['shell::fs::mkdir', { path: 'm' }, [{ kind: 'created', is_directory: true }]],
  ['shell::fs::rm', { path: 'f' }, [{ kind: 'deleted' }]],
  ['shell::fs::chmod', { path: 'f', mode: '0600' }, [{ kind: 'mode' }]],
  ['shell::fs::mv', { src: 'f', dst: 'g' }, [{ kind: 'renamed' }]],
  ['shell::fs::sed', { files: ['f', 'same'], pattern: 'line 1$', replacement: 'one' }, [{ kind: 'modified' }]],
])('%s %j', async (id, payload, expected) => {
  await using dir = await tempDir({ f: TEN, same: 'nothing to replace', 'd/e': '' });
  const absolute = id.startsWith('shell::') ? below(payload, dir) : payload;
  expect(await changesBy(id, absolute, dir)).toMatchObject(expected);
});

/** With absolute paths, as `shell::fs` takes them. */
function below(payload: object, dir: TempDir): object {
  const whole = (value: unknown) =>
    Array.isArray(value) ? value.map((one: string) => dir.path(one)) : dir.path(value as string);
  return Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [
      key,
      /^(path|src|dst|files)$/.test(key) ? whole(value) : (value as unknown),
    ]),
  );
}

test('what is large or not text is reported by its size, and long hunks are cut', async () => {
  await using dir = await tempDir({ binary: 'a\0b', large: 'x'.repeat(300_000), many: '' });
  const [binary] = await changesBy('filesystem::write', { path: 'binary', content: 'text' }, dir);
  const [large] = await changesBy('filesystem::write', { path: 'large', content: 'small' }, dir);
  const [many] = await changesBy('filesystem::write', { path: 'many', content: 'line\n'.repeat(1000) }, dir);
  expect([binary?.hunks, large?.hunks, large?.before]).toEqual([undefined, undefined, { bytes: 300_000 }]);
  expect([many?.hunks?.[0]?.lines.length, many?.is_cut]).toEqual([400, true]);
});

test('many changes are reported without their lines, at most 100', async () => {
  await using dir = await tempDir({});
  const files = Array.from({ length: 120 }, (_, i) => ({ path: `f${i}`, content: `${'x'.repeat(300)}\n` }));
  const changes = await changesBy('coder::create-file', { files }, dir);
  expect(changes).toHaveLength(100);
  expect([changes[0]?.hunks, changes[99]?.hunks, changes[99]?.is_cut]).toEqual([expect.any(Array), undefined, true]);
});

test.runIf(process.geteuid?.() !== 0)('a file that cannot be read is still replaced and removed', async () => {
  await using dir = await tempDir({ f: 'secret' });
  chmodSync(dir.path('f'), 0o200);
  expect(await changesBy('filesystem::rm', { path: 'f' }, dir)).toMatchObject([{ kind: 'deleted' }]);
});

test('a file that is changed to what it holds is not reported', async () => {
  await using dir = await tempDir({ f: TEN });
  chmodSync(dir.path('f'), 0o600);
  expect(await changesBy('filesystem::write', { path: 'f', content: TEN }, dir)).toEqual([]);
});
