/** The network of sandboxes as callers see it, against servers of this machine: nothing else is ever asked for. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { describe, expect, test, vi } from 'vitest';

import { IMAGE_PATIENCE_MS, serveSandboxes, tempDir, whyNoSandbox, withEnoughTime, type SandboxCases } from '#testing';

const why = await whyNoSandbox(['python']);

interface Site extends AsyncDisposable {
  readonly port: number;
  readonly asked: string[];
  /** The reply to every request; its own path when absent. */
  says?: string;
}

async function startSite(): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, reply) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`);
    reply.end(site.says ?? `hello from ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const site: Site = {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return site;
}

const fetching = (url: string) => [
  'python3',
  '-c',
  `import urllib.request as r, urllib.error as e
try: print(r.urlopen("${url}", timeout=20).read().decode())
except e.HTTPError as x: print(x.code, x.read().decode())`,
];

describe.skipIf(why !== undefined)(`network: true${why === undefined ? '' : ` (${why})`}`, () => {
  vi.setConfig({ testTimeout: 120_000, hookTimeout: IMAGE_PATIENCE_MS });

  const printed = async (cell: SandboxCases, sandbox_id: string, argv: string[]) =>
    (await cell.call<{ stdout: string; stderr: string }>('sandbox::exec', { sandbox_id, argv })).stdout.trim();

  test('sandbox.P16 what the operator opened is reached by name, and what happened is listed', async () => {
    await using site = await startSite();
    const place = `host.internal:${site.port}`;
    await using cell = await serveSandboxes({ egress: { allow: [place] } });
    const sandbox_id = await cell.create({ network: true });

    expect(await printed(cell, sandbox_id, fetching(`http://${place}/a?b=c`))).toBe('hello from /a?b=c');
    expect(await printed(cell, sandbox_id, fetching('http://example.com/'))).toMatch(/^403 /);
    expect(site.asked).toEqual([`GET ${place}/a?b=c`]);

    const { sandboxes } = await cell.call<{ sandboxes: object[] }>('sandbox::list', { egress_log: true });
    expect(sandboxes).toMatchObject([
      {
        network: true,
        egress: {
          allow: [place],
          deny: [],
          allowed: 1,
          refused: 1,
          failed: 0,
          recent: [
            { host: 'example.com', port: 80, verdict: 'refused', rule: null, reason: 'not_allowed', bytes_sent: 0 },
            { host: 'host.internal', port: site.port, verdict: 'allowed', rule: place, reason: null },
          ],
        },
      },
    ]);
  });

  test('a refusal names what the program may request', async () => {
    await using cell = await serveSandboxes();
    const sandbox_id = await cell.create({ network: true, egress: { allow: ['pypi.org'] } });
    const reported = await printed(cell, sandbox_id, fetching('http://example.com/'));
    expect(JSON.parse(reported.slice(4))).toEqual({
      error: {
        code: 'egress_refused',
        reason: 'not_allowed',
        message: 'egress.allow does not list example.com:80',
        fix: 'Create the sandbox with "example.com:80" in egress.allow.',
      },
    });
  });

  test('a refusal is in what the program prints, and in the reply of the command that met it', async () => {
    await using cell = await serveSandboxes();
    const sandbox_id = await cell.create({ network: true, egress: { allow: ['pypi.org'] } });
    const script = `import urllib.request as r
for _ in range(3):
    try: r.urlopen("https://example.org/", timeout=20)
    except OSError as x: print(x)`;
    const met = await cell.call<{ stdout: string }>('sandbox::exec', { sandbox_id, argv: ['python3', '-c', script] });
    expect(met.stdout).toContain('403 egress.allow does not list example.org:443');
    const reason =
      'egress.allow does not list example.org:443. Create the sandbox with "example.org:443" in egress.allow.';
    expect(met).toMatchObject({ egress_refused: [{ host: 'example.org:443', reason }] });

    // Only the command that was refused reports it.
    expect(await cell.call('sandbox::exec', { sandbox_id, argv: ['true'] })).not.toHaveProperty('egress_refused');

    // The longest stays below the timeout of the call.
    const argv = ['sh', '-c', 'curl -s https://example.org/; sleep 60'];
    const late = (timeout_ms: number) => cell.failure('sandbox::exec', { sandbox_id, argv, timeout_ms });
    const failed = await withEnoughTime([2_000, 6_000, 20_000], late, (seen) => 'egress_refused' in seen);
    expect(failed).toMatchObject({ code: 'S200', egress_refused: [{ host: 'example.org:443', reason }] });
  });

  test('sandbox.N3 addresses in the environment stay what they are', async () => {
    await using cell = await serveSandboxes();
    const API = 'http://localhost:3111/x';
    const sandbox_id = await cell.create({ network: true, env: { API, HTTP_PROXY: 'mine' } });
    const asked = { sandbox_id, argv: ['printenv', 'API', 'OTHER', 'HTTP_PROXY', 'https_proxy'], env: { OTHER: API } };
    expect(await cell.call('sandbox::exec', asked)).toMatchObject({
      stdout: `${API}\n${API}\nmine\nhttp://127.0.0.1:3128\n`,
    });
  });

  test('sandbox.N4 traffic counts as use: it is stopped when that ends, and not before', async () => {
    await using site = await startSite();
    const place = `host.internal:${site.port}`;
    await using cell = await serveSandboxes({ egress: { allow: [place] } });
    const idleSecs = 3;
    const sandbox_id = await cell.create({ network: true, idle_timeout_secs: idleSecs });
    const loop = `import urllib.request as r, time
while r.urlopen("http://${place}/tick").read() != b"stop": open("/tmp/ticked", "w"); time.sleep(0.3)`;
    // The command ends when the first request was answered, however long the program took to start.
    const script = 'nohup python3 -c "$1" >/dev/null 2>&1 & while [ ! -e /tmp/ticked ]; do sleep 0.1; done';
    const argv = ['sh', '-c', script, 'sh', loop];
    await cell.call('sandbox::exec', { sandbox_id, argv, timeout_ms: 60_000 }, { timeoutMs: 90_000 });
    const living = async () => (await cell.call<{ sandboxes: object[] }>('sandbox::list', {})).sandboxes.length;
    // Longer than the idle time, without any call meanwhile.
    await new Promise((resolve) => setTimeout(resolve, (2 * idleSecs + 2) * 1000));
    expect(await living()).toBe(1);
    site.says = 'stop';
    await expect.poll(living, { timeout: 60_000, interval: 500 }).toBe(0);
    expect(await cell.failure('sandbox::exec', { sandbox_id, cmd: 'true' })).toMatchObject({ code: 'S004' });
  });

  test('without it nothing listens', async () => {
    await using cell = await serveSandboxes();
    const sandbox_id = await cell.create();
    const script = `import socket
try: socket.create_connection(("127.0.0.1", 3128), 5); print("open")
except OSError as error: print(error.errno)`;
    expect(await printed(cell, sandbox_id, ['python3', '-c', script])).toBe('111');
    expect(await printed(cell, sandbox_id, ['sh', '-c', 'env | grep -ci proxy'])).toBe('0');
  });

  test('sandbox.P16 a program that asks for this machine by any name gets nowhere, with the proxy and around it', async () => {
    await using site = await startSite();
    await using cell = await serveSandboxes();
    const sandbox_id = await cell.create({ network: true });
    const script = `import socket
def through(target):
    s = socket.create_connection(("127.0.0.1", 3128), 10)
    s.sendall(f"CONNECT {target}:${site.port} HTTP/1.1\\r\\n\\r\\n".encode())
    return s.recv(1000).split()[1].decode()
def around(host):
    try: socket.create_connection((host, ${site.port}), 3); return "open"
    except OSError: return "closed"
names = ["127.0.0.1", "localhost", "host.internal", "[::1]", "0", "[::ffff:127.0.0.1]", "169.254.169.254"]
print(*map(through, names), *map(around, ["127.0.0.1", "10.0.2.2", "192.0.2.1", "host.internal"]))`;
    expect(await printed(cell, sandbox_id, ['python3', '-c', script])).toBe(
      '403 403 403 403 403 403 403 closed closed closed closed',
    );
    expect(site.asked).toEqual([]);
  });

  test('HTTPS goes through as it is, by CONNECT', async () => {
    await using site = await startSite();
    const place = `host.internal:${site.port}`;
    await using cell = await serveSandboxes({ egress: { allow: [place] } });
    const sandbox_id = await cell.create({ network: true });
    // Plain HTTP stands for TLS here: the proxy does not inspect the stream.
    const script = `import http.client
c = http.client.HTTPConnection("127.0.0.1", 3128)
c.set_tunnel("host.internal", ${site.port})
c.request("GET", "/inside"); print(c.getresponse().read().decode())`;
    expect(await printed(cell, sandbox_id, ['python3', '-c', script])).toBe('hello from /inside');
  });

  test('an authority of the operator is trusted beside those of the image', async ({ skip }) => {
    skip(spawnSync('openssl', ['version']).status !== 0, 'openssl is not installed');
    await using dir = await tempDir({ 'empty.pem': 'no certificate' });
    const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: dir.root, stdio: 'ignore' });
    const newKey = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    openssl(...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Own Authority');
    openssl(
      ...[...newKey, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-keyout', 'site.key', '-out', 'site.pem'],
      ...['-subj', '/CN=site', '-addext', 'subjectAltName=DNS:host.internal', '-addext', 'basicConstraints=CA:FALSE'],
    );
    const [key, cert] = ['site.key', 'site.pem'].map((name) => readFileSync(dir.path(name)));
    const server = createTlsServer({ key, cert }, (_, reply) => reply.end('trusted')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const place = `host.internal:${(server.address() as AddressInfo).port}`;
    const script = `import urllib.request as r
try: print(r.urlopen("https://${place}/", timeout=20).read().decode())
except OSError as x: print(x)`;
    const asking = { argv: ['python3', '-c', script] };
    try {
      await using cell = await serveSandboxes({ egress: { allow: [place], ca_file: dir.path('ca.pem') } });
      const sandbox_id = await cell.create({ network: true });
      expect(await cell.call('sandbox::exec', { sandbox_id, ...asking })).toMatchObject({ stdout: 'trusted\n' });
      const count = 'for f in $SSL_CERT_FILE $REQUESTS_CA_BUNDLE $NODE_EXTRA_CA_CERTS; do grep -c BEGIN $f; done';
      const counts = (await printed(cell, sandbox_id, ['sh', '-c', count])).split('\n').map(Number);
      expect(counts).toHaveLength(3);
      expect(Math.min(...counts)).toBeGreaterThan(50);

      // The image alone does not trust it.
      const env = { SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt' };
      const untold = await cell.call<{ stdout: string }>('sandbox::exec', { sandbox_id, ...asking, env });
      expect(untold.stdout).toContain('CERTIFICATE_VERIFY_FAILED');
    } finally {
      server.closeAllConnections();
      server.close();
    }
    await expect(serveSandboxes({ egress: { ca_file: dir.path('empty.pem') } })).rejects.toThrow(
      /^iii-sandbox.egress.ca_file: .*empty.pem holds no PEM certificate$/,
    );
    await expect(serveSandboxes({ egress: { ca_file: dir.path('none') } })).rejects.toThrow('cannot be read (ENOENT)');
  });

  test('sandbox::run takes it too', async () => {
    await using site = await startSite();
    const place = `host.internal:${site.port}`;
    await using cell = await serveSandboxes({ egress: { allow: [place] } });
    const code = `import urllib.request as r; print(r.urlopen("http://${place}/run").read().decode())`;
    expect(await cell.call('sandbox::run', { image: 'python', lang: 'python', code, network: true })).toMatchObject({
      stdout: 'hello from /run\n',
    });
  });
});

describe('what a call may ask for', () => {
  test.each([
    [['example.com:22'], 'example.com:22; the operator allows *:80, *:443', []],
    [['pypi.org', '*:8080'], '*:8080; the operator allows *:80, *:443', ['pypi.org']],
    [['127.0.0.1:80'], '127.0.0.1:80; the operator allows *:80, *:443', []],
    [['host.internal'], 'host.internal; the operator allows *:80, *:443', []],
    [['pypi.org:*'], 'pypi.org:*; the operator allows *:80, *:443', []],
  ])('%j is more than the operator allows', async (allow, reported, rest) => {
    await using cell = await serveSandboxes();
    const request = { image: 'python', network: true, egress: { allow, deny: ['x.org'] } };
    expect(await cell.failure('sandbox::create', request)).toMatchObject({
      code: 'S400',
      message: `resource limit exceeded: egress.allow has ${reported}`,
      fix: { egress: { allow: rest, deny: ['x.org'] } },
    });
  });

  test('what the operator denies is named', async () => {
    const config = { egress: { deny: ['*.example.com'] } };
    await using cell = await serveSandboxes(config);
    const request = { image: 'python', network: true, egress: { allow: ['www.example.com'] } };
    expect(await cell.failure('sandbox::create', request)).toMatchObject({
      code: 'S400',
      message: 'resource limit exceeded: egress.allow has www.example.com; the operator denies *.example.com',
    });
  });

  test('lists without a network are a mistake', async () => {
    await using cell = await serveSandboxes();
    const refused = await cell.failure('sandbox::create', { image: 'python', egress: { allow: [] } });
    expect(refused).toMatchObject({ code: 'S001', fix: { network: true } });
  });

  test.each([
    ...[
      'http://example.com',
      'a b',
      'exa*mple.com',
      'example.com:0',
      'example.com:99999',
      '10.0.0.0/33',
      '*.1.2.3.4',
      '',
    ],
  ])('the entry %j is none', async (entry) => {
    await using cell = await serveSandboxes();
    const request = { image: 'python', network: true, egress: { allow: [entry] } };
    expect(await cell.failure('sandbox::create', request)).toMatchObject({
      code: 'S001',
      message: expect.stringContaining('egress.allow[0]'),
    });
  });
});
