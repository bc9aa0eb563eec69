/** TLS to NATS: servers that verify the certificates of nodes, and servers that do not offer it. */
import { execFileSync, spawnSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ClusterSettingsSchema, probeCluster, type ClusterSettings } from '#cluster';
import { tempDir, type TempDir } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { startNode, untilKnown } from './support/nodes.ts';

const NO_OPENSSL = spawnSync('openssl', ['version']).status !== 0;

/** An authority, and certificates of it for a server and two nodes; `elsewhere` names another host, `stray` has no authority. */
async function makeCertificates(): Promise<TempDir> {
  const dir = await tempDir({
    'here.cnf': 'subjectAltName=IP:127.0.0.1,DNS:localhost',
    'elsewhere.cnf': 'subjectAltName=IP:127.0.0.9,DNS:elsewhere',
  });
  const openssl = (words: string) => execFileSync('openssl', words.split(' '), { cwd: dir.root, stdio: 'ignore' });
  const newKey = (name: string) => `-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${name}.key`;
  for (const name of ['ca', 'stray']) openssl(`req -x509 ${newKey(name)} -out ${name}.pem -subj /CN=${name} -days 1`);
  for (const name of ['server', 'elsewhere', 'a', 'b']) {
    openssl(`req ${newKey(name)} -out ${name}.csr -subj /CN=${name}`);
    const names = name === 'elsewhere' ? 'elsewhere.cnf' : 'here.cnf';
    openssl(`x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out ${name}.pem -extfile ${names}`);
  }
  return dir;
}

describe.skipIf(NO_NATS || NO_OPENSSL)('TLS to NATS (needs nats-server and openssl)', () => {
  let dir: TempDir;
  let nats: NatsServers;
  let servers: string[];
  beforeAll(async () => {
    dir = await makeCertificates();
    nats = await startTls('server', true);
    servers = nats.urls.map(toTls);
  });
  afterAll(async () => {
    await nats?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  function startTls(name: string, verify: boolean): Promise<NatsServers> {
    const files = { cert_file: `${name}.pem`, key_file: `${name}.key`, ca_file: 'ca.pem' };
    const lines = Object.entries(files).map(([key, file]) => `${key}: "${dir.path(file)}"`);
    return NatsServers.start({ extra: `tls { ${lines.join(', ')}, verify: ${verify} }` });
  }
  const toTls = (url: string) => url.replace('nats:', 'tls:');
  const filesOf = (name: string) => ({ certFile: dir.path(`${name}.pem`), keyFile: dir.path(`${name}.key`) });
  const probe = (settings: Partial<ClusterSettings>) =>
    probeCluster(ClusterSettingsSchema.parse({ servers, node: 'x', ...settings }));

  test('cluster.P27 nodes with certificates of the authority join and call each other', async () => {
    const caFile = dir.path('ca.pem');
    await using a = await startNode(servers, 'a', { caFile, ...filesOf('a') });
    const byName = servers.map((url) => url.replace('127.0.0.1', 'localhost'));
    await using b = await startNode(byName, 'b', { caFile, ...filesOf('b') });
    await Promise.all([untilKnown(a, 'b'), untilKnown(b, 'a')]);
    expect(await a.bus.call('work::once', { key: 'tls' }, { namespace: 'b' })).toEqual({ key: 'tls', by: 'b' });
  });

  test('cluster.P27 no certificate, one of another authority, a server of another authority or host, and plain text do not connect', async () => {
    const caFile = dir.path('ca.pem');
    await using plain = await NatsServers.start();
    await using elsewhere = await startTls('elsewhere', false);
    const probes = await Promise.all([
      probe({ caFile }),
      probe({ caFile, ...filesOf('stray') }),
      probe(filesOf('a')),
      probe({ caFile, servers: elsewhere.urls.map(toTls) }),
      probe({ servers: plain.urls.map(toTls) }),
    ]);
    expect(probes.map(({ server }) => server)).toEqual(probes.map(() => undefined));
    expect(probes.slice(2).map(({ whyDown }) => whyDown)).toEqual([
      expect.stringMatching(/certificate/),
      expect.stringContaining("does not match certificate's altnames: IP: 127.0.0.1"),
      "server does not support 'tls'",
    ]);
  });

  test('cluster.P28 a file that is missing, or a certificate without its key, is refused by the name of its option', async () => {
    const message = (settings: Partial<ClusterSettings>) => probe(settings).catch(String);
    const certFile = dir.path('a.pem');
    const missing = dir.path('none');
    expect(
      await Promise.all([
        message({ certFile }),
        message({ ...filesOf('a'), certFile: missing }),
        message({ certFile, keyFile: missing }),
        message({ caFile: missing }),
      ]),
    ).toEqual([
      'ConfigError: --cluster-cert and --cluster-key must be given together',
      `ConfigError: --cluster-cert: cannot read ${missing}: ENOENT`,
      `ConfigError: --cluster-key: cannot read ${missing}: ENOENT`,
      `ConfigError: --cluster-ca: cannot read ${missing}: ENOENT`,
    ]);
  });
});
