/** The nodes of the cluster, loaded while any page is open; none outside a cluster. */
import { computed, signal } from '@preact/signals';

import { call } from '../session.ts';
import { followWatch } from '../watching.ts';

export interface NodeRow {
  name: string;
  id: string;
  state: 'up' | 'draining' | 'cut off';
  roles: string[];
  aliases: string[];
  labels: Record<string, string>;
  version: string;
  self: boolean;
  url?: string;
  joined_ms: number;
  heard_ms_ago: number;
  /** Time of the last report, by the clock of this page. */
  heardAtMs: number;
  calls_out: number;
  calls_in: number;
  functions: number;
  sandboxes?: { places: number; living: number; max: number; isolation: string; memory_free_mb: number };
}

/** Calls change the numbers of their nodes all the time. */
const REST_MS = 1_000;

export const nodes = signal<NodeRow[]>([]);
export const ownNode = computed(() => nodes.value.find(({ self }) => self)?.name);
export const isCutOff = computed(() => nodes.value.some(({ self, state }) => self && state === 'cut off'));

/** An engine joins a cluster only by a restart, and then this page reconnects. */
export function followNodes(): () => void {
  let stop: (() => void) | undefined;
  let isOver = false;
  void loadNodes().then(() => {
    if (!isOver && nodes.value.length > 0) stop = followWatch('engine::watch', loadNodes, REST_MS);
  });
  return () => {
    isOver = true;
    stop?.();
  };
}

export async function loadNodes(): Promise<void> {
  const listed = await call<{ nodes: NodeRow[] }>('engine::nodes::list').catch(() => undefined);
  const nowMs = Date.now();
  if (listed) nodes.value = listed.nodes.map((node) => ({ ...node, heardAtMs: nowMs - node.heard_ms_ago }));
}

/** The node of a sandbox: from its row, else from the digits of the node that begin its id. */
export function nodeOfSandbox({ sandbox_id: id, node }: { sandbox_id: string; node?: string }): string | undefined {
  return node ?? nodes.value.find((one) => id.startsWith(one.id))?.name ?? ownNode.value;
}

/** This node for a command on the host; the sandbox's node for a command in a sandbox. */
export function nodeOfJob({ sandbox_id: id }: { sandbox_id?: string }): string | undefined {
  return id === undefined ? ownNode.value : nodeOfSandbox({ sandbox_id: id });
}
