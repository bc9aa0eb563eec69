/**
 * Functions of other engines, when this one is a node of a cluster. An engine by itself has none.
 *
 * The engine knows no transport: other nodes are sessions that it calls like any worker. They authorize calls
 * themselves, with the principal that this engine sends.
 */
import type { Failure, SandboxReport } from '#contract';
import type { RegisteredFunction } from './registry.ts';

/** Another node of the cluster, as a session names it. */
export interface NodeName {
  readonly name: string;
  readonly id: string;
}

export interface NodeRow extends NodeName {
  state: 'up' | 'draining' | 'cut off';
  roles: string[];
  aliases: string[];
  labels: Record<string, string>;
  version: string;
  self: boolean;
  url?: string | undefined;
  joined_ms: number;
  heard_ms_ago: number;
  calls_out: number;
  calls_in: number;
  functions: number;
  /** Absent on a node without sandboxes. */
  sandboxes?: SandboxReport | undefined;
}

export interface OtherNodes {
  /** Whether this node is connected to the others. */
  readonly isReady: boolean;
  /** The function that serves the id, here or on another node; a failure when its node was lost a moment ago. */
  resolve(id: string, namespace: string, own: RegisteredFunction | undefined): RegisteredFunction | Failure | undefined;
  /** The namespaces here that another node may address by this namespace; the first that has the function serves. */
  namespacesHere(namespace: string): string[];
  /** Whether other nodes may call it. */
  isShared(fn: RegisteredFunction): boolean;
  /** Names of nodes that serve the id. */
  nodesWith(id: string): string[];
  /** Functions of other nodes: those that every caller may call by id alone, or all of the node with this name. */
  list(node?: string): RegisteredFunction[];
  nodes(): NodeRow[];
  /** Marks this node as draining, so that it takes no new work, or ends that. */
  drain(isDraining: boolean): NodeRow;
}
