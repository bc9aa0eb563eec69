/**
 * Real NATS servers for tests: one, or several joined by routes, killed and stopped by signal.
 *
 * The program is $NATS_SERVER, else the one in PATH, else Debian's package unpacked into the cache: installing that
 * would start a service.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/workcell-nats', import.meta.url));
const UNPACKED = join(CACHE, 'root/usr/sbin/nats-server');
const APT_MS = 60_000;
const PATIENCE_MS = 30_000;

/** The program; undefined where it cannot be had. */
function natsServer(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'nats-server'));
  const found = [process.env.NATS_SERVER ?? '', ...folders, UNPACKED].find((path) => path !== '' && existsSync(path));
  return found ?? (unpackPackage() ? UNPACKED : undefined);
}

/** Value for `skipIf`; the reason is in the title of the suite. */
export const NO_NATS = natsServer() === undefined;

/** Test files that run at the same time each unpack a copy of their own; the first rename stays. */
function unpackPackage(): boolean {
  if (process.platform !== 'linux' || process.env.WORKCELL_NO_APT) return false;
  mkdirSync(CACHE, { recursive: true });
  const dir = mkdtempSync(join(CACHE, 'unpacking-'));
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, { cwd: dir, stdio: 'ignore', timeout: APT_MS }).status === 0;
  try {
    if (!run('apt-get', 'download', 'nats-server')) return false;
    const file = readdirSync(dir).find((name) => name.endsWith('.deb'));
    if (file === undefined || !run('dpkg-deb', '-x', file, 'root')) return false;
    if (!existsSync(UNPACKED)) renameSync(join(dir, 'root'), join(CACHE, 'root'));
    return true;
  } catch {
    return existsSync(UNPACKED);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export interface NatsOptions {
  count?: number;
  /** Added to the configuration of each server. */
  extra?: string;
  /** Another port in front of that of a route, which a test cuts. */
  routeVia?: (url: string) => Promise<number>;
}

export class NatsServers implements AsyncDisposable {
  readonly #dir = mkdtempSync(join(tmpdir(), 'workcell-nats-'));
  readonly #processes: (ChildProcess | undefined)[] = [];
  #ports: number[] = [];

  static async start({ count = 1, extra = '', routeVia }: NatsOptions = {}): Promise<NatsServers> {
    const servers = new NatsServers();
    const ports = await freePorts(2 * count);
    servers.#ports = ports.slice(0, count);
    const routes = ports.slice(count);
    for (let at = 0; at < count; at++) {
      // Only one server of each pair dials through the other port: a connection from the other server would bypass it.
      const dialled = routes.filter((_, other) => (routeVia ? other > at : other !== at)).map(toUrl);
      const others = routeVia ? (await Promise.all(dialled.map(routeVia))).map(toUrl) : dialled;
      const cluster = `cluster { name: test, listen: "127.0.0.1:${routes[at]}", routes: [${others.join(', ')}] }`;
      const lines = [`listen: "127.0.0.1:${servers.#ports[at]}"`, ...(count > 1 ? [cluster] : []), extra];
      writeFileSync(join(servers.#dir, `${at}.conf`), lines.join('\n'));
    }
    await Promise.all(servers.#ports.map((_, at) => servers.restart(at)));
    return servers;
  }

  get urls(): string[] {
    return this.#ports.map(toUrl);
  }

  /** Pids of the running processes. */
  get pids(): number[] {
    return this.#processes.flatMap((child) => child?.pid ?? []);
  }

  async restart(at: number): Promise<void> {
    const child = spawn(natsServer()!, ['-c', join(this.#dir, `${at}.conf`)], { stdio: 'ignore' });
    this.#processes[at] = child;
    const end = Date.now() + PATIENCE_MS;
    while (!(await listens(this.#ports[at]!))) {
      if (Date.now() > end) throw new Error(`nats-server ${at} does not listen`);
      await sleep(20);
    }
  }

  signal(at: number, signal: NodeJS.Signals): void {
    this.#processes[at]?.kill(signal);
  }

  async kill(at: number): Promise<void> {
    const child = this.#processes[at];
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((_, at) => this.kill(at)));
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

function toUrl(port: number): string {
  return `nats://127.0.0.1:${port}`;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

/** Ports that were free a moment ago: servers of one cluster need the ports of the others before they start. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
