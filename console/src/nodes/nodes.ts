/** The nodes of the cluster, loaded while any page is open; none outside a cluster. */
import { computed, signal } from '@preact/signals';

import { call } from '../session.ts';

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
  calls_out: number;
  calls_in: number;
  functions: number;
  sandboxes?: { places: number; living: number; max: number; isolation: string; memory_free_mb: number };
}

/** A node reports every second or later. */
const REST_MS = 2_000;

export const nodes = signal<NodeRow[]>([]);
export const ownNode = computed(() => nodes.value.find(({ self }) => self)?.name);
export const isCutOff = computed(() => nodes.value.some(({ self, state }) => self && state === 'cut off'));

/** An engine joins a cluster only by a restart, and then this page reconnects. */
export function followNodes(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const load = async () => {
    await loadNodes();
    if (!isOver && nodes.value.length > 0) timer = setTimeout(() => void load(), REST_MS);
  };
  void load();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

export async function loadNodes(): Promise<void> {
  const listed = await call<{ nodes: NodeRow[] }>('engine::nodes::list').catch(() => undefined);
  if (listed) nodes.value = listed.nodes;
}

/** The node of a sandbox: from its row, else from the digits of the node that begin its id. */
export function nodeOfSandbox({ sandbox_id: id, node }: { sandbox_id: string; node?: string }): string | undefined {
  return node ?? nodes.value.find((one) => id.startsWith(one.id))?.name ?? ownNode.value;
}

/** This node for a command on the host; the sandbox's node for a command in a sandbox. */
export function nodeOfJob({ sandbox_id: id }: { sandbox_id?: string }): string | undefined {
  return id === undefined ? ownNode.value : nodeOfSandbox({ sandbox_id: id });
}
