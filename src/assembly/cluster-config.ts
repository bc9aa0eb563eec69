/** `cluster:` of the configuration file. Options of the command line override each key. */
import { z } from 'zod';

export const clusterConfig = z.strictObject({
  servers: z
    .array(z.string())
    .default([])
    .describe('The NATS servers, nats://HOST:PORT or tls://HOST:PORT; none: this engine is by itself.'),
  name: z.string().default('default').describe('Nodes of another name do not see each other.'),
  node: z.string().nullable().default(null).describe('Name of this node, a DNS label. null: the host name.'),
  roles: z
    .array(z.string())
    .default(['door', 'host'])
    .describe('`door` knows the other nodes and calls them, `host` is called.'),
  as: z.array(z.string()).default([]).describe('Other names of this node, such as that of its project.'),
  share: z.array(z.string()).default(['iii-sandbox']).describe('Workers or functions that other nodes may call here.'),
  labels: z
    .record(z.string(), z.string())
    .default({})
    .describe('Facts about the machine that lists of nodes show, such as `zone: a`.'),
  max_sandboxes: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'Most sandboxes of all hosts together, as this node places them. By their last reports: what starts within a second can exceed it. null: the limits of the hosts.',
    ),
  creds: z.string().nullable().default(null).describe('Credentials file for NATS.'),
  nkey: z.string().nullable().default(null).describe('File with the nkey seed for NATS.'),
  ca: z.string().nullable().default(null).describe('Certificate authority of the NATS servers, for tls:// addresses.'),
  cert: z
    .string()
    .nullable()
    .default(null)
    .describe('Certificate of this node, for NATS servers that verify their clients; with `key`.'),
  key: z.string().nullable().default(null).describe('Private key of `cert`.'),
});
export type ClusterConfig = z.output<typeof clusterConfig>;

const NOT_A_PATH = /^\s*S[A-Z2-7]{50,}\s*$|-----BEGIN|\n/;

/**
 * For printing: without a password in an address, and without a secret that was given in place of the path of its file.
 */
export function withoutClusterSecrets(config: ClusterConfig): ClusterConfig {
  const hidden = (value: string | null) => (value !== null && NOT_A_PATH.test(value) ? '***' : value);
  const { creds, nkey, ca, cert, key } = config;
  return {
    ...config,
    servers: config.servers.map((url) => url.replace(/\/\/.*@/, '//***@')),
    ...{ creds: hidden(creds), nkey: hidden(nkey), ca: hidden(ca), cert: hidden(cert), key: hidden(key) },
  };
}
