/** The library in a program of a user: the build, by its published names, compiled and run. */
import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test, vi } from 'vitest';

import { startCli } from '../../../src/testing/cli.ts';
import { rounds } from '../../../src/testing/rounds.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';

vi.setConfig({ testTimeout: 60_000 });

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A folder with Workcell installed in it. */
async function project(files: Record<string, string>) {
  const dir = await tempDir({
    'package.json': '{"type": "module"}',
    'node_modules/': '',
    'ws/a.txt': 'one\n',
    ...files,
  });
  for (const name of ['zod', 'ai', '@types'])
    symlinkSync(`${ROOT}node_modules/${name}`, dir.path(`node_modules/${name}`));
  symlinkSync(ROOT, dir.path('node_modules/workcell'));
  return dir;
}

function node(args: string[], cwd: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, timeout: 50_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

const TYPED = `import { createWorkcell, type ResponseOf } from 'workcell';
import { connect } from 'workcell/client';
import { workcellTools } from 'workcell/ai-sdk';

export async function main(): Promise<ResponseOf<'coder::read-file'>['size']> {
  await using cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }, { name: 'shell', config: { allowlist: ['ls'] } }] });
  const bus = await connect('ws://127.0.0.1:49134');
  await workcellTools(bus, { only: ['coder'] });
  const { stdout } = await bus.call('shell::exec', { command: 'ls', target: { kind: 'host' } });
  await cell.call('reviews::add', { note: stdout.trim() });
  const { size } = await cell.call('coder::read-file', { path: 'a.txt' });
  return size;
}
`;

const PROGRAMS = [
  ['compiles', TYPED, undefined],
  [
    'does not compile with a wrong field',
    TYPED.replace("path: 'a.txt'", 'path: 1'),
    "'number' is not assignable to type 'string'",
  ],
  [
    'does not compile with a wrong key',
    TYPED.replace('allowlist', 'allow_list'),
    "'allow_list' does not exist in type",
  ],
  [
    'does not compile with a wrong result',
    TYPED.replace("['size']", "['content']"),
    "'number' is not assignable to type 'string'",
  ],
] as const;

test.each(PROGRAMS.slice(0, rounds(2, 4, 4)))('library.P2 a typed program %s', async (_, program, problem) => {
  await using dir = await project({ 'main.ts': program });
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'];
  const lib = ['--lib', 'es2023,esnext.disposable,dom', '--types', 'node'];
  const { code, stdout } = await node(
    [`${ROOT}node_modules/typescript/bin/tsc`, ...options, ...lib, 'main.ts'],
    dir.root,
  );
  expect({ code, stdout }).toEqual(
    problem === undefined
      ? { code: 0, stdout: '' }
      : { code: expect.any(Number), stdout: expect.stringContaining(problem) },
  );
});

test('library.P1 a program runs one inside itself and ends by itself once it is closed', async () => {
  await using dir = await project({
    'main.js': `
      import { createWorkcell } from 'workcell';
      const cell = await createWorkcell({ workspace: 'ws' });
      const { content } = await cell.call('coder::read-file', { path: 'a.txt' });
      await cell.close();
      console.log(JSON.stringify(content));`,
  });
  expect(await node(['main.js'], dir.root)).toEqual({ code: 0, stdout: '"one\\n"\n', stderr: '' });
});

test('a program calls a running engine and ends by itself once it is closed', async () => {
  await using dir = await project({
    'main.js': `
      import { connect, CallError } from 'workcell/client';
      const bus = await connect(process.argv[2]);
      const refused = await bus.call('coder::read-file', { path: '../x' }).catch((error) => error);
      bus.close();
      console.log(refused instanceof CallError, refused.code);`,
  });
  await using cell = await startCli(['start', '--port', '0', '--workspace', dir.path('ws')]);
  expect(await node(['main.js', cell.url], dir.root)).toEqual({ code: 0, stdout: 'true C215\n', stderr: '' });
});
