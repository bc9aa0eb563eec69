/** How `start` joins a cluster. Nothing of it is loaded without --cluster. */
import { hostname } from 'node:os';

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
  'cluster-creds': valueOption('FILE', 'Credentials file for NATS, default $WORKCELL_CLUSTER_CREDS.'),
  'cluster-nkey': valueOption('FILE', 'File with the nkey seed for NATS, default $WORKCELL_CLUSTER_NKEY.'),
  'cluster-ca': valueOption('FILE', 'Certificate authority of the NATS servers, for tls:// addresses.'),
};

/** Undefined without --cluster. */
export async function parseClusterOptions(
  options: CommandInput['options'],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ClusterSettings | undefined> {
  const servers = listed(text(options.cluster) ?? env.WORKCELL_CLUSTER);
  if (!servers) {
    const stray = Object.keys(clusterOptions).find((name) => options[name] !== undefined);
    if (stray !== undefined) throw new ConfigError(`--${stray} needs --cluster URL`);
    return undefined;
  }
  const { ClusterSettingsSchema } = await import('#cluster');
  const given = {
    servers,
    cluster: text(options['cluster-name']) ?? (env.WORKCELL_CLUSTER_NAME || undefined),
    node: text(options.node) ?? (env.WORKCELL_NODE || hostname().split('.')[0]!.toLowerCase()),
    roles: options.role,
    aliases: options.as,
    share: listed(text(options.share)),
    credsFile: text(options['cluster-creds']) ?? (env.WORKCELL_CLUSTER_CREDS || undefined),
    nkeyFile: text(options['cluster-nkey']) ?? (env.WORKCELL_CLUSTER_NKEY || undefined),
    caFile: text(options['cluster-ca']),
  };
  return parseConfig(ClusterSettingsSchema, withoutAbsent(given), 'cluster');
}

/** An empty text counts as absent. */
function listed(value: string | undefined): string[] | undefined {
  return value ? value.split(',').filter((part) => part !== '') : undefined;
}

function withoutAbsent(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
