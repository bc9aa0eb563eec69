/** The npm package: packed, installed into an empty folder, and used from there. */
import { execFile, type ExecFileException } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';

import { runCli, startCli } from '../../../src/testing/cli.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH/;
/** A registry is slow at times. */
const NPM_MS = 300_000;
const TEST_MS = 900_000;

interface Ended {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** npm with the user's own settings: it needs their registry. */
function npm(command: 'npm' | 'npx' | 'node', args: string[], cwd: string): Promise<Ended> {
  const env = { ...process.env, NODE_OPTIONS: '', npm_config_update_notifier: 'false' };
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env, timeout: NPM_MS }, (error: ExecFileException | null, stdout, stderr) =>
      resolve({ ok: error === null, stdout, stderr }),
    );
  });
}

test(
  'cli.C12 npm install -g of the package gives a working workcell, without a build or a clone',
  { timeout: TEST_MS },
  async ({ skip }) => {
    await using dir = await tempDir({ 'prefix/': '', 'work/a.txt': 'abc' });
    const packed = await npm('npm', ['pack', '--json', '--pack-destination', dir.root], ROOT);
    // A build that was due has printed before.
    const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.search(/^\[/m))) as [{ filename: string }];
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', dir.path('prefix')];
    const installed = await npm('npm', ['install', '-g', ...options, `./${filename}`], dir.root);
    skip(NO_REGISTRY.test(installed.stderr), 'the npm registry cannot be reached');
    expect(installed).toMatchObject({ ok: true });
    await rm(dir.path(filename));

    const bin = dir.path('prefix/bin/workcell');
    expect(await runCli(['--version'], { bin })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(await runCli(['completion', 'bash'], { bin })).toMatchObject({ code: 0, stderr: '' });
    await using cell = await startCli(['start', '--port', '0', '--workspace', dir.path('work')], { bin });
    const read = await runCli(['exec', '--', 'cat', 'a.txt'], { bin, env: { WORKCELL_URL: cell.url } });
    expect(read).toEqual({ code: 0, stdout: 'abc', stderr: '' });
    expect(await (await fetch(`${cell.http}/`)).text()).toContain('<script');

    const client = new Client({ name: 'package', version: '1' });
    await client.connect(new StdioClientTransport({ command: bin, args: ['mcp', '--workspace', dir.path('work')] }));
    const { content } = await client.callTool({ name: 'read', arguments: { paths: ['a.txt'] } });
    expect(JSON.stringify(content)).toContain('abc');
    await client.close();
  },
);

test('repo.P1 repo.P2 the packed package installs and runs', { timeout: TEST_MS }, async ({ skip }) => {
  await using dir = await tempDir({ 'app/package.json': '{"private":true}', 'work/a.txt': 'abc' });
  const app = dir.path('app');
  const packed = await npm('npm', ['pack', '--json', '--pack-destination', dir.root], ROOT);
  const [{ filename, files }] = JSON.parse(packed.stdout.slice(packed.stdout.search(/^\[/m))) as [
    { filename: string; files: { path: string }[] },
  ];
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['package.json', 'LICENSE', 'dist/cli/main.js', 'dist/client/index.d.ts']),
  );
  expect(paths.filter((path) => /^(src|tests|bench|scripts|console)\/|\.test\.|\/testing\//.test(path))).toEqual([]);

  const installing = ['install', '--no-audit', '--no-fund', '--omit=dev', '--prefer-offline', dir.path(filename)];
  const installed = await npm('npm', installing, app);
  skip(NO_REGISTRY.test(installed.stderr), 'the npm registry cannot be reached');
  expect(installed).toMatchObject({ ok: true });

  const version = await npm('npx', ['--no-install', 'workcell', '--version'], app);
  expect(version).toMatchObject({ ok: true, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });

  const program = `
    const { createWorkcell } = await import('workcell');
    const { connect } = await import('workcell/client');
    const { defineWorker } = await import('workcell/contract');
    const inside = await import('workcell/engine').catch((error) => error.code);
    console.log(typeof createWorkcell, typeof connect, typeof defineWorker, inside);`;
  const imported = await npm('node', ['--input-type=module', '--eval', program], app);
  expect(imported).toEqual({
    ok: true,
    stdout: 'function function function ERR_PACKAGE_PATH_NOT_EXPORTED\n',
    stderr: '',
  });

  const bin = dir.path('app/node_modules/.bin/workcell');
  await using cell = await startCli(['start', '--port', '0', '--workspace', dir.path('work')], { bin });
  const read = await runCli(['call', 'coder::read-file', 'path=a.txt', '--url', cell.url], { bin });
  expect(JSON.parse(read.stdout)).toMatchObject({ content: 'abc' });
  expect(await cell.stop()).toBe(0);
});
