/** The node that `start` runs: joins before it is ready, and drains before it leaves. Loaded only with --cluster. */
import { setTimeout as sleep } from 'node:timers/promises';

import { isWithinReach, type RunningWorkcell, type WorkerEntry } from '#assembly';
import { joinCluster, OwnNode, type Cluster, type ClusterSettings } from '#cluster';
import { ConfigError, type Log } from '#contract';
import { version } from '#version';
import { onFleet, sandbox } from '#workers/sandbox';
import { untilSignal } from '../until-signal.ts';

/** How often a draining node counts its sandboxes and calls. */
const COUNT_EVERY_MS = 200;

interface NodeOptions {
  /** How long SIGTERM waits for sandboxes, and then for calls, to end. */
  drainMs: number;
  log: Log;
  /** Absent when only the blocks of the workers name directories. */
  workspace?: string | undefined;
}

/** Agents that read a key can be this node; those that replace an authority choose the servers that it trusts. */
const KEPT_APART = {
  '--cluster-creds': 'credsFile',
  '--cluster-nkey': 'nkeyFile',
  '--cluster-ca': 'caFile',
  '--cluster-cert': 'certFile',
  '--cluster-key': 'keyFile',
} as const;

export class ClusterNode {
  readonly ownNode: OwnNode;
  readonly #settings: ClusterSettings;
  readonly #options: NodeOptions;
  readonly #sandboxes: ReturnType<typeof onFleet>;
  #cluster: Cluster | undefined;

  constructor(settings: ClusterSettings, options: NodeOptions) {
    this.#settings = settings;
    this.#options = options;
    this.ownNode = new OwnNode(settings, version);
    this.#sandboxes = onFleet(sandbox, this.ownNode);
  }

  /**
   * Replaces the sandbox worker: a host serves its own under the node's name, and the default namespace gets one that
   * forwards calls to all hosts. Throws when a worker could write a file of this node's connection.
   */
  workers(entries: readonly WorkerEntry[]): WorkerEntry[] {
    this.#requireApart(entries);
    const { roles, node } = this.#settings;
    return entries.flatMap((entry) => {
      if (entry.def !== sandbox || entry.namespace !== undefined) return [entry];
      const own = { ...entry, def: this.#sandboxes.host, namespace: node };
      return [...(roles.includes('host') ? [own] : []), { ...entry, def: this.#sandboxes.front }];
    });
  }

  /** Closes the Workcell when it may not join. */
  async join(workcell: RunningWorkcell): Promise<void> {
    const { log } = this.#options;
    try {
      this.#cluster = await joinCluster(workcell.engine, this.#settings, { log, ownNode: this.ownNode });
    } catch (error) {
      await workcell.close();
      throw error;
    }
  }

  /** Describes the node for the lines that start prints. */
  get line(): string {
    const { cluster: name, node } = this.#settings;
    const count = this.#cluster!.nodes().length;
    const isUp = this.#cluster!.isUp;
    const state = isUp ? `${count} ${count === 1 ? 'node' : 'nodes'}` : 'cut off: no NATS server answers';
    return `  cluster    ${name} as ${node} (${state})`;
  }

  /**
   * SIGTERM first waits for the sandboxes here to end, and then for calls of other nodes: one that ended the last
   * sandbox is not answered yet. A second signal cancels the wait.
   */
  async leave(signal: NodeJS.Signals): Promise<void> {
    if (signal === 'SIGTERM' && this.ownNode.sandboxCount > 0) await this.#drain();
    await this.#cluster?.leave();
  }

  #requireApart(entries: readonly WorkerEntry[]): void {
    for (const [option, key] of Object.entries(KEPT_APART)) {
      const file = this.#settings[key];
      if (file === undefined || !isWithinReach(file, this.#options.workspace, entries)) continue;
      throw new ConfigError(
        `${option} ${file} lies where agents may read and write: move the file out of the workspace and of every directory that a worker is given, such as to ~/.config/workcell`,
        { code: 'cluster_file_within_reach' },
      );
    }
  }

  async #drain(): Promise<void> {
    const { drainMs, log } = this.#options;
    this.#cluster?.drain(true);
    log.info('waits for sandboxes to end', { sandboxes: this.ownNode.sandboxCount, at_most_s: drainMs / 1_000 });
    const ended = new AbortController();
    const { signal } = ended;
    const counted = async () => {
      while (this.ownNode.sandboxCount > 0 && !signal.aborted) await sleep(COUNT_EVERY_MS);
      const unanswered = () => this.#cluster?.unanswered ?? 0;
      if (unanswered() > 0) log.info('waits for calls of other nodes to end', { calls: unanswered() });
      while (unanswered() > 0 && !signal.aborted) await sleep(COUNT_EVERY_MS);
    };
    const late = sleep(drainMs, undefined, { signal }).catch(() => {});
    await Promise.race([counted(), late, untilSignal()]);
    ended.abort();
    const left = this.ownNode.sandboxCount;
    if (left > 0) log.warn('leaves with sandboxes that have not ended', { sandboxes: left });
  }
}
