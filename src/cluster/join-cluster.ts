/**
 * Makes an engine a node of a cluster.
 *
 * An id that another node has is drawn again. That is safe before the node announces anything, and while nothing of
 * this process has the id in its own: a sandbox or a channel that was made meanwhile makes it a refusal.
 */
import { ConfigError } from '#contract';
import type { Engine } from '#engine';
import { Cluster, type ClusterParts } from './cluster.ts';
import { ID_TAKEN } from './members/refuse-taken.ts';
import type { ClusterSettings } from './settings.ts';

/** Ids drawn before the join fails: a second collision of 32-bit ids points to a fault, not to chance. */
const MOST_DRAWS = 5;

/** Throws when the server refuses this node, or another node has its name or every id that it drew. */
export async function joinCluster(engine: Engine, settings: ClusterSettings, parts: ClusterParts): Promise<Cluster> {
  for (let draws = 1; ; draws++) {
    const cluster = new Cluster(engine, settings, parts);
    try {
      await cluster.join();
      return cluster;
    } catch (error) {
      const isTaken = error instanceof ConfigError && error.code === ID_TAKEN;
      if (!isTaken || draws === MOST_DRAWS || engine.channels.count > 0 || !parts.ownNode.drawAgain()) throw error;
      parts.log.warn('another node has the id that this one drew; draws again', { id: cluster.self.id });
    }
  }
}
