/**
 * Names similar to the root's or to a protected one, requested through every function and every symlink.
 *
 * A check that compares texts takes `ws-evil`, `WS` or another spelling of `é` for the root; a check of the
 * given name instead of its target returns a protected file under a harmless name.
 */
import { existsSync, linkSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { answer, CallControl, type Bus } from '#contract';
import { coder } from '#workers/coder';
import { jailModes, type TempDir, tempDir } from '#testing';
import { openContext, operations, outcome, snapshot, type Context } from './jail-write-support.ts';

const COMPOSED = 'w\u00e9';
const DECOMPOSED = 'we\u0301';

/** Everything that a function of coder can be asked to do at a path. */
const requests = {
  'read-file': (path: string) => ({ path }),
  'read-file, a window': (path: string) => ({ path, line_from: 1, numbered: true }),
  'list-folder': (path: string) => ({ path }),
  tree: (path: string) => ({ path }),
  search: (path: string) => ({ query: 'SECRET', path }),
  'create-file': (path: string) => ({ files: [{ path, content: 'x', overwrite: true }] }),
  'update-file': (path: string) => ({ files: [{ path, ops: [{ op: 'insert', at_line: 1, content: 'x' }] }] }),
  'delete-file': (path: string) => ({ paths: [path], recursive: true }),
};

async function ask(context: Context, name: string, path: string): Promise<string> {
  const id = `coder::${name.split(',')[0]}`;
  const payload = requests[name as keyof typeof requests](path);
  const surroundings = { bus: {} as Bus, log: { ...console, debug() {} }, control: new CallControl() };
  const fn = coder.functions.find((each) => each.id === id)!;
  return JSON.stringify(await answer({ def: coder, context }, fn, { callId: '1', payload }, surroundings));
}

/** The code of a refusal, of the call or of its one item. */
const codeIn = (reply: string) => /\bC2\d\d\b/.exec(reply)?.[0] ?? reply;

describe.each(jailModes())('%s jail', (_, way) => {
  describe.each([
    ['a name that begins the same', 'ws', 'ws-evil'],
    ['the name in capitals', 'ws', 'WS'],
    ['the name in small letters', 'Ws', 'ws'],
    ['the name with another e and accent', COMPOSED, DECOMPOSED],
    ['the name with one letter for both', DECOMPOSED, COMPOSED],
  ])('a sibling of the root has %s', (_, root, sibling) => {
    const setUp = async (): Promise<TempDir> => {
      const dir = await tempDir({ [`${root}/own.txt`]: 'own', [`${sibling}/f.txt`]: 'SECRET\n' });
      dir.add({
        [`${root}/folder`]: { symlink: `../${sibling}` },
        [`${root}/absolute`]: { symlink: dir.path(sibling) },
        [`${root}/chain`]: { symlink: 'folder' },
        [`${root}/file`]: { symlink: `../${sibling}/f.txt` },
      });
      return dir;
    };

    test.each(Object.keys(requests))('coder.P18 %s refuses every way to it', async (name) => {
      await using dir = await setUp();
      const before = snapshot(dir.path(sibling));
      const context = openContext(dir.path(root), way);
      const ways = [`../${sibling}`, 'folder', 'absolute', 'chain'].flatMap((way) => [`${way}/f.txt`, `${way}/new`]);
      const replies = await Promise.all([...ways, 'file/x'].map((path) => ask(context, name, path)));
      await coder.close(context);

      expect(replies.map(codeIn)).toEqual(replies.map(() => 'C215'));
      expect(snapshot(dir.path(sibling))).toEqual(before);
    });
  });

  test('coder.P18 another spelling of a name inside is another name', async () => {
    await using dir = await tempDir({ 'ws/caf\u00e9.txt': 'composed', 'ws/Notes.txt': 'capital' });
    const areTwins = existsSync(dir.path('ws/cafe\u0301.txt')) || existsSync(dir.path('ws/notes.txt'));
    const context = openContext(dir.path('ws'), way);
    const replies = await Promise.all(
      ['cafe\u0301.txt', 'notes.txt', 'caf\u00e9.txt', 'Notes.txt'].map((path) => ask(context, 'read-file', path)),
    );
    await coder.close(context);
    expect(areTwins ? [] : replies.slice(0, 2).map(codeIn)).toEqual(areTwins ? [] : ['C211', 'C211']);
    expect(replies[2]).toContain('composed');
    expect(replies[3]).toContain('capital');
  });

  describe('a protected file', () => {
    const setUp = () =>
      tempDir({
        'ws/deep/.env': 'SECRET\n',
        'ws/keys/a.pem': 'SECRET\n',
        'ws/secrets/plain.txt': 'SECRET\n',
        'ws/notes': { symlink: 'deep/.env' },
        'ws/chain': { symlink: 'notes' },
        'ws/folder': { symlink: 'secrets' },
      });

    test.each(['read-file', 'read-file, a window', 'create-file', 'update-file', 'delete-file'])(
      'coder.P18 %s sees it under none of its names',
      async (name) => {
        await using dir = await setUp();
        const before = snapshot(dir.path('ws/secrets'));
        const context = openContext(dir.path('ws'), way);
        const names = ['deep/.env', './keys//a.pem', 'secrets/plain.txt', 'folder/plain.txt', 'deep/../deep/.env'];
        // Removing a symlink removes the symlink itself.
        const links = name === 'delete-file' ? [] : ['notes', 'chain'];
        const replies = await Promise.all([...names, ...links].map((path) => ask(context, name, path)));
        await coder.close(context);

        expect(replies.map(codeIn)).toEqual(replies.map(() => 'C211'));
        expect(snapshot(dir.path('ws/secrets'))).toEqual(before);
      },
    );

    test('is in no search, and a list and a tree show its name and nothing of it', async () => {
      await using dir = await setUp();
      const context = openContext(dir.path('ws'), way);
      const replies = await Promise.all(
        [...['search', 'tree'].map((name) => [name, '.']), ['list-folder', 'secrets'], ['search', 'folder']].map(
          ([name, path]) => ask(context, name!, path!),
        ),
      );
      await coder.close(context);
      for (const reply of replies) expect(reply).not.toContain('SECRET');
      expect(JSON.parse(replies[0]!)).toMatchObject({ result: { content_matches: [], path_matches: [] } });
      expect(replies[2]).toMatch(/"name":"plain.txt".*"non_accessible":true/);
    });

    test('with a second name outside the globs is a file like any other: the fence is about names', async () => {
      await using dir = await setUp();
      linkSync(dir.path('ws/deep/.env'), dir.path('ws/hard'));
      const context = openContext(dir.path('ws'), way);
      const read = await ask(context, 'read-file', 'hard');
      await coder.close(context);
      expect(read).toContain('SECRET');
    });
  });

  test.each([
    ['makeDirectory', 'dangling/x'],
    ['makeDirectory', 'dangling'],
    ['renameTo', 'dangling/x'],
    ['chmod', 'dangling'],
    ['create', 'dangling'],
    ['update', 'dangling'],
  ] as const)('%s through a dangling link to the outside makes nothing there: %s', async (operation, path) => {
    await using dir = await tempDir({ 'ws/plain': '', 'ws/dangling': { symlink: '../outside/new' }, 'outside/': '' });
    const before = snapshot(dir.path('outside'));
    const context = openContext(dir.path('ws'), way);
    expect(await outcome(operations[operation](context, path))).toBe('refused');
    await coder.close(context);
    expect(snapshot(dir.path('outside'))).toEqual(before);
  });
});
