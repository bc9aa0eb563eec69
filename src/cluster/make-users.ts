/** New keys for the nodes of a cluster. */
import { parseConfig } from '#contract';
import { ClusterSettingsSchema } from './settings.ts';
import { loadClient } from './wire/nats.ts';
import { authorizationBlock, type NodeUser } from './wire/permissions.ts';

export async function makeUsers(
  cluster: string,
  nodes: readonly Omit<NodeUser, 'publicKey'>[],
): Promise<{ block: string; seeds: Map<string, string> }> {
  for (const { name } of nodes) {
    parseConfig(ClusterSettingsSchema.pick({ cluster: true, node: true }), { cluster, node: name }, 'cluster');
  }
  const { nkeys } = await loadClient();
  const seeds = new Map<string, string>();
  const users = nodes.map((node) => {
    const key = nkeys.createUser();
    seeds.set(node.name, new TextDecoder().decode(key.getSeed()));
    return { ...node, publicKey: key.getPublicKey() };
  });
  return { block: authorizationBlock(cluster, users), seeds };
}
