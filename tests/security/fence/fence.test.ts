/**
 * Attacks on the fence from inside: files, processes, sockets, the network, and every way out of namespaces, as root and
 * as an ordinary user. Those that need no rights are made without the fence too, to prove that they are attacks.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describe, expect, test, vi } from 'vitest';

import { NOBODY_UID, run, shellCases, tempDir } from '#testing';
import { exec } from '../../../src/workers/shell/functions/exec.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const isRoot = process.geteuid?.() === 0;
/** In a clone in /tmp, which is empty inside the fence, fewer attacks say something. */
const CACHE = here('../../../node_modules/.cache');

/** Written where only a program outside of the fence can write. */
const HOSTILE = `
  #include <fcntl.h>
  unsigned la_version(unsigned v) { return v; }
  __attribute__((constructor)) static void run(void) { open(HIJACKED, O_CREAT | O_WRONLY, 0644); }`;

interface Report {
  attacks: number;
  through: string[];
  without: string[];
  control: number;
  works: string;
  env: string;
  kept: string;
  home: Record<string, string[]>;
  cached: string;
}

function prepare(uid: number | undefined) {
  mkdirSync(CACHE, { recursive: true });
  const root = mkdtempSync(join(CACHE, 'fence-'));
  const workspace = join(root, 'workspace');
  for (const name of ['workspace', 'home', 'out', 'cache']) mkdirSync(join(root, name));
  execFileSync('gcc', ['-static', '-O1', '-w', '-o', join(workspace, 'attacks'), here('fence-attacks.c')]);
  writeFileSync(join(root, 'hostile.c'), HOSTILE);
  const hijacked = join(root, 'out/hijacked');
  const library = ['-shared', '-fPIC', '-w', `-DHIJACKED="${hijacked}"`, '-o', join(workspace, 'hostile.so')];
  execFileSync('gcc', [...library, join(root, 'hostile.c')]);
  chmodSync(root, 0o755);
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, root]);
  execFileSync('cp', [join(workspace, 'attacks'), join(workspace, 'setuid')]);
  if (isRoot) chownSync(join(workspace, 'setuid'), uid === undefined ? NOBODY_UID : 0, 0);
  chmodSync(join(workspace, 'setuid'), 0o4755);
  return { root, hijacked, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

/** Listens on an abstract socket of this host, which Node cannot. */
async function abstractSocket() {
  const listens =
    'use IO::Socket::UNIX; $s = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => "\\0$ARGV[0]", Listen => 9) or die; $|=1; print "on"; sleep 600';
  // Of this test alone: the perl of the one before may not have ended yet.
  const name = `fence-test-${randomUUID()}`;
  const perl = spawn('perl', ['-e', listens, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(perl, 'exit').then(([code]) => Promise.reject(new Error(`perl ended with ${code}`)));
  ended.catch(() => {});
  await Promise.race([once(perl.stdout, 'data'), ended]);
  return { name, [Symbol.dispose]: () => void perl.kill() };
}

/** Listens where Docker and D-Bus, an agent of ssh and an X server do. Only root can write to /run. */
async function serviceSockets() {
  const mark = `fence-test-${randomUUID()}`;
  const paths = [`/tmp/ssh-${mark}/agent.1`, `/tmp/.X11-unix/X${mark}`, ...(isRoot ? [`/run/${mark}/bus`] : [])];
  for (const path of paths) mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const servers = paths.map((path) => createServer((socket) => socket.destroy()).listen(path));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  for (const path of paths) chmodSync(path, 0o777);
  const close = () => {
    for (const server of servers) server.close();
    // The folder of X may have sockets of others.
    for (const folder of paths.map(dirname))
      if (folder.includes(mark)) rmSync(folder, { recursive: true, force: true });
  };
  return { paths, [Symbol.dispose]: close };
}

/** Directories that are empty inside; the workspace in them is not. */
test.skipIf(process.platform !== 'linux').each([
  ['/tmp', undefined],
  ['home', 'stubbed'],
])('a socket of the host in the workspace is closed where the workspace is in %s', async (_, home) => {
  await using dir = await tempDir({ 'ws/a.txt': 'a' });
  if (home !== undefined) vi.stubEnv('HOME', dir.root);
  const server = createServer((socket) => socket.destroy()).listen(dir.path('ws/host.sock'));
  try {
    await once(server, 'listening');
    const connect = 'IO::Socket::UNIX->new(Peer => "host.sock") ? print "through" : print "refused"';
    const request = { command: 'perl', args: ['-MIO::Socket::UNIX', '-e', connect] };
    const cases = (fence: string) => shellCases(dir.path('ws'), { fence, allowlist: [], denylist_patterns: [] });
    expect(await run(exec, request, cases('off'))).toMatchObject({ stdout: 'through' });
    expect(await run(exec, request, cases('workspace'))).toMatchObject({ stdout: 'refused' });
  } finally {
    vi.unstubAllEnvs();
    server.close();
  }
});

describe.skipIf(process.platform !== 'linux').each([
  ['the current user', undefined],
  ['an ordinary user', NOBODY_UID],
])('fence.P1 the fence of %s', (_, uid) => {
  test.skipIf(uid !== undefined && !isRoot)('fence.P1 lets no attack through', { timeout: 300_000 }, async () => {
    using socket = await abstractSocket();
    using services = await serviceSockets();
    using place = prepare(uid);
    const home = join(place.root, 'home');
    const run = promisify(execFile)(process.execPath, [here('fence-attacker.mjs'), place.root], {
      ...(uid === undefined ? {} : { uid, gid: uid }),
      cwd: '/',
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        HOME: home,
        XDG_CACHE_HOME: join(place.root, 'cache'),
        XDG_STATE_HOME: join(place.root, 'cache'),
        ABSTRACT_SOCKET: socket.name,
        SERVICES: services.paths.join(':'),
        WORKCELL_TOKEN: 'VERY-SECRET',
        AWS_SECRET_ACCESS_KEY: 'VERY-SECRET',
      },
    });
    const report = JSON.parse((await run).stdout) as Report;
    console.log(`${report.attacks} attacks, ${report.through.length} through; ${report.control} without the fence`);
    expect(report.through).toEqual([]);
    expect(report.without, 'attacks that fail without the fence too prove nothing').toEqual([]);
    expect(report.attacks).toBeGreaterThan(60);
    expect(report).toMatchObject({ works: 'plaincachedx\nnew\nok\n', env: 'VERY-SECRET', kept: 'kept' });
    // Writes of commands into home and the caches are lost, and the toolchains are as they were.
    expect(report).toMatchObject({ cached: 'cached', home: { '.npm': ['cached'], '.local/bin': ['tool'] } });
    expect(report.home['']).not.toContain('made');
    expect(existsSync(place.hijacked), 'a variable acted on a program outside').toBe(false);
  });
});
