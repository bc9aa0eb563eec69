import { hostname } from 'node:os';

import { describe, expect, test } from 'vitest';

import { parseCluster } from '#assembly';
import { clusterOptions, parseClusterOptions, parseDrainTimeout } from './cluster-options.ts';

const FILE = `
cluster:
  servers: [nats://file:4222]
  name: of-file
  node: file-1
  roles: [host]
  as: [file-alias]
  share: [coder]
  labels: { zone: file }
  max_sandboxes: 7
  nkey: /file/nk
  ca: /file/ca
  cert: /file/cert
  key: /file/key
workers: []
`;
const FROM_FILE = {
  servers: ['nats://file:4222'],
  cluster: 'of-file',
  node: 'file-1',
  roles: ['host'],
  aliases: ['file-alias'],
  share: ['coder'],
  labels: { zone: 'file' },
  maxSandboxes: 7,
  nkeyFile: '/file/nk',
  caFile: '/file/ca',
  certFile: '/file/cert',
  keyFile: '/file/key',
};
const ENV = {
  WORKCELL_CLUSTER: 'nats://env:4222,tls://env-2:4222',
  WORKCELL_CLUSTER_NAME: 'of-env',
  WORKCELL_NODE: 'env-1',
};
const FROM_ENV = { servers: ['nats://env:4222', 'tls://env-2:4222'], cluster: 'of-env', node: 'env-1' };

type Options = Parameters<typeof parseClusterOptions>[0];
const parse = (options: Options, env: NodeJS.ProcessEnv = {}, file?: string) =>
  parseClusterOptions(options, { env, file: file === undefined ? undefined : parseCluster(file, {}) });

describe('how this process joins a cluster', () => {
  test('uses every key of the file when nothing else is set', async () => {
    expect(await parse({}, {}, FILE)).toEqual(FROM_FILE);
  });

  test('a variable wins over the file, an empty one does not', async () => {
    expect(await parse({}, ENV, FILE)).toEqual({ ...FROM_FILE, ...FROM_ENV });
    const empty = Object.fromEntries(Object.keys(ENV).map((name) => [name, '']));
    expect(await parse({}, empty, FILE)).toEqual(FROM_FILE);
  });

  test('an option wins over its variable and the file', async () => {
    const options = {
      cluster: 'nats://option:4222',
      'cluster-name': 'of-option',
      node: 'option-1',
      role: ['door'],
      as: ['option-alias'],
      share: 'shell,engine',
      label: ['zone=a=b'],
      'cluster-creds': '/option/creds',
      'cluster-ca': '/option/ca',
      'cluster-cert': '/option/cert',
      'cluster-key': '/option/key',
    };
    const { nkeyFile: _, ...file } = FROM_FILE;
    expect(await parse(options, { ...ENV, WORKCELL_CLUSTER_CREDS: '/env/creds' }, FILE)).toEqual({
      ...file,
      servers: ['nats://option:4222'],
      cluster: 'of-option',
      node: 'option-1',
      roles: ['door'],
      aliases: ['option-alias'],
      share: ['shell', 'engine'],
      labels: { zone: 'a=b' },
      credsFile: '/option/creds',
      caFile: '/option/ca',
      certFile: '/option/cert',
      keyFile: '/option/key',
    });
  });

  test('credentials from the environment or command line replace those of the file', async () => {
    const keys = async (options: Options, env: NodeJS.ProcessEnv) => {
      const settings = await parse(options, env, FILE);
      return [settings?.credsFile, settings?.nkeyFile];
    };
    expect(await keys({}, { WORKCELL_CLUSTER_CREDS: '/env/creds' })).toEqual(['/env/creds', undefined]);
    expect(await keys({}, { WORKCELL_CLUSTER_NKEY: '/env/nk' })).toEqual([undefined, '/env/nk']);
    const both = { WORKCELL_CLUSTER_CREDS: '/env/creds', WORKCELL_CLUSTER_NKEY: '/env/nk' };
    expect(await keys({ 'cluster-nkey': '/option/nk' }, both)).toEqual([undefined, '/option/nk']);
    expect(await keys({ 'cluster-creds': '/option/creds' }, both)).toEqual(['/option/creds', undefined]);
  });

  test('only servers are required: the rest has defaults, and the node is named after the host', async () => {
    expect(await parse({ cluster: 'nats://a:1' })).toEqual({
      servers: ['nats://a:1'],
      cluster: 'default',
      node: hostname().split('.')[0]!.toLowerCase(),
      roles: ['door', 'host'],
      aliases: [],
      share: ['iii-sandbox'],
      labels: {},
    });
  });

  test('without servers there is no cluster, and an option that needs one is refused', async () => {
    expect(await parse({}, { WORKCELL_NODE: 'a' })).toBeUndefined();
    for (const name of Object.keys(clusterOptions).filter((option) => option !== 'cluster')) {
      await expect(parse({ [name]: 'x' })).rejects.toThrow(`--${name} needs --cluster URL`);
    }
  });

  test('help names the variable of each option that has one', () => {
    const named = Object.entries(clusterOptions).flatMap(([name, { description }]) => {
      const variable = /\$(\w+)/.exec(description)?.[1];
      return variable === undefined ? [] : [`${name} ${variable}`];
    });
    expect(named).toEqual([
      'cluster WORKCELL_CLUSTER',
      'cluster-name WORKCELL_CLUSTER_NAME',
      'node WORKCELL_NODE',
      'cluster-creds WORKCELL_CLUSTER_CREDS',
      'cluster-nkey WORKCELL_CLUSTER_NKEY',
    ]);
  });
});

test('--drain-timeout is in seconds, 300 unless given', () => {
  expect([parseDrainTimeout({}), parseDrainTimeout({ 'drain-timeout': '5' })]).toEqual([300_000, 5_000]);
  expect(() => parseDrainTimeout({ 'drain-timeout': '1m' })).toThrow('--drain-timeout must be a number of seconds');
});
