/** How `start` joins a cluster. Nothing of it is loaded without servers. */
import { hostname } from 'node:os';

import type { ClusterConfig } from '#assembly';
import type { ClusterSettings } from '#cluster';
import { ConfigError, parseConfig } from '#contract';
import { valueOption, type CommandInput, type OptionSpec } from '../command.ts';
import { text } from '../engine-address.ts';

export const clusterOptions: Record<string, OptionSpec> = {
  cluster: valueOption(
    'URL',
    'Join other Workcells through these NATS servers, separated by commas. Default $WORKCELL_CLUSTER.',
  ),
  'cluster-name': valueOption('NAME', 'Name of the cluster, default $WORKCELL_CLUSTER_NAME or `default`.'),
  node: valueOption('NAME', 'Name of this node, default $WORKCELL_NODE or the host name. Others call it as namespace.'),
  role: valueOption(
    'ROLE',
    'door (knows the other nodes and calls them) or host (is only called); repeatable, default both.',
    { multiple: true },
  ),
  as: valueOption('ALIAS', 'Another name of this node, such as that of its project; repeatable.', { multiple: true }),
  share: valueOption('LIST', 'Workers or functions that other nodes may call here, default iii-sandbox.'),
  label: valueOption('KEY=VALUE', 'A fact about this machine that lists of nodes show; repeatable.', {
    multiple: true,
  }),
  'drain-timeout': valueOption('SECONDS', 'Seconds that SIGTERM waits for the sandboxes here to end, default 300.'),
  'cluster-creds': valueOption('FILE', 'Credentials file for NATS, default $WORKCELL_CLUSTER_CREDS.'),
  'cluster-nkey': valueOption('FILE', 'File with the nkey seed for NATS, default $WORKCELL_CLUSTER_NKEY.'),
  'cluster-ca': valueOption('FILE', 'Certificate authority of the NATS servers, for tls:// addresses.'),
  'cluster-cert': valueOption('FILE', 'Certificate of this node for NATS servers that verify their clients.'),
  'cluster-key': valueOption('FILE', 'Private key of --cluster-cert.'),
};

/** Undefined without servers. The command line comes first, then the environment, then the file. */
export async function parseClusterOptions(
  options: CommandInput['options'],
  { file, env = process.env }: { file?: ClusterConfig | undefined; env?: NodeJS.ProcessEnv } = {},
): Promise<ClusterSettings | undefined> {
  const servers = listed(text(options.cluster) ?? env.WORKCELL_CLUSTER) ?? file?.servers ?? [];
  if (servers.length === 0) {
    const stray = Object.keys(clusterOptions).find((name) => options[name] !== undefined);
    if (stray !== undefined) throw new ConfigError(`--${stray} needs --cluster URL`);
    return undefined;
  }
  const { ClusterSettingsSchema } = await import('#cluster');
  const given = {
    servers,
    cluster: text(options['cluster-name']) ?? (env.WORKCELL_CLUSTER_NAME || file?.name),
    node: text(options.node) ?? (env.WORKCELL_NODE || (file?.node ?? hostname().split('.')[0]!.toLowerCase())),
    roles: options.role ?? file?.roles,
    aliases: options.as ?? file?.as,
    share: listed(text(options.share)) ?? file?.share,
    labels: parseLabels(options.label) ?? file?.labels,
    maxSandboxes: file?.max_sandboxes ?? undefined,
    ...keysOf(options, env, file),
    caFile: text(options['cluster-ca']) ?? file?.ca ?? undefined,
    certFile: text(options['cluster-cert']) ?? file?.cert ?? undefined,
    keyFile: text(options['cluster-key']) ?? file?.key ?? undefined,
  };
  return parseConfig(ClusterSettingsSchema, withoutAbsent(given), 'cluster');
}

/** Reads creds and nkey from one source only: command line, else environment, else file. */
function keysOf(options: CommandInput['options'], env: NodeJS.ProcessEnv, file: ClusterConfig | undefined) {
  const sources = [
    { credsFile: text(options['cluster-creds']), nkeyFile: text(options['cluster-nkey']) },
    { credsFile: env.WORKCELL_CLUSTER_CREDS || undefined, nkeyFile: env.WORKCELL_CLUSTER_NKEY || undefined },
    { credsFile: file?.creds ?? undefined, nkeyFile: file?.nkey ?? undefined },
  ];
  return sources.find(({ credsFile, nkeyFile }) => credsFile !== undefined || nkeyFile !== undefined) ?? {};
}

function parseLabels(given: CommandInput['options'][string]): Record<string, string> | undefined {
  if (!Array.isArray(given)) return undefined;
  return Object.fromEntries(
    given.map((label) => {
      const at = label.indexOf('=');
      if (at < 1) throw new ConfigError(`--label must be KEY=VALUE (got ${label})`);
      return [label.slice(0, at), label.slice(at + 1)];
    }),
  );
}

/** Returns milliseconds. */
export function parseDrainTimeout(options: CommandInput['options']): number {
  const given = text(options['drain-timeout']) ?? '300';
  if (/^\d{1,6}$/.test(given)) return Number(given) * 1_000;
  throw new ConfigError(`--drain-timeout must be a number of seconds (got ${given})`);
}

/** An empty text counts as absent. */
function listed(value: string | undefined): string[] | undefined {
  return value ? value.split(',').filter((part) => part !== '') : undefined;
}

function withoutAbsent(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
