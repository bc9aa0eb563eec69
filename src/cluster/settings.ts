/** How this process joins a cluster, from the command line and the environment. */
import { z } from 'zod';

/** A DNS label. `all` is part of subjects that every node reads. */
const NodeName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a DNS label: small letters, digits and hyphens, at most 63')
  .refine((name) => name !== 'all' && name !== 'default', 'must not be "all" or "default"');

/**
 * A seed or the contents of a file in place of its path; without the check, errors about a missing file would print it.
 */
const SECRET = /^\s*S[A-Z2-7]{50,}\s*$|-----BEGIN|\n/;
const FilePath = z.string().refine((path) => !SECRET.test(path), 'must be the path of a file, not what is in the file');

export const ROLES = ['door', 'host'] as const;

export const ClusterSettingsSchema = z.strictObject({
  /** Addresses of the NATS servers. */
  servers: z
    .array(
      z
        .string()
        .regex(/^(nats|tls):\/\/\S+$/, 'must be nats://HOST:PORT or tls://HOST:PORT')
        // The NATS client would ignore it, and parse a numeric password as the port.
        .refine(
          (url) => !url.includes('@'),
          'must not have a user or password: give --cluster-nkey or --cluster-creds',
        ),
    )
    .min(1),
  cluster: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 small letters, digits and hyphens')
    .default('default'),
  node: NodeName,
  roles: z
    .array(z.enum(ROLES))
    .min(1)
    .default([...ROLES]),
  aliases: z.array(NodeName).max(16).default([]),
  /** Workers or function ids that other nodes may call here, beside functions of scope `one` and `any`. */
  share: z.array(z.string().min(1)).default(['iii-sandbox']),
  /** Facts about the machine, for lists of nodes. */
  labels: z
    .record(
      z.string().regex(/^[\w./-]{1,63}$/, 'must be 1 to 63 letters, digits and . _ - /'),
      z.string().max(63, 'must have at most 63 characters'),
    )
    .refine((labels) => Object.keys(labels).length <= 32, 'must be at most 32')
    .default({}),
  /** Most sandboxes of all hosts together, where this node places them. */
  maxSandboxes: z.int().min(1).optional(),
  credsFile: FilePath.optional(),
  nkeyFile: FilePath.optional(),
  caFile: FilePath.optional(),
  /** Certificate of this node, for servers that verify their clients. */
  certFile: FilePath.optional(),
  keyFile: FilePath.optional(),
});

export type ClusterSettings = z.output<typeof ClusterSettingsSchema>;
