/** Many engines as one cluster, over NATS. Loaded only by a node: everything else runs without it. */
export type { Cluster } from './cluster.ts';
export { joinCluster } from './join-cluster.ts';
export { OwnNode } from './members/own-node.ts';
export { makeUsers } from './make-users.ts';
export { probeCluster, type ClusterProbe } from './probe.ts';
export { ClusterSettingsSchema, type ClusterSettings } from './settings.ts';
