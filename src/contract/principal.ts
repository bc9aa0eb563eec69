/**
 * The principal of a call: the caller that it is made for.
 *
 * The engine makes it once, where the caller connects: the claims of a peer about itself may be part of the label and
 * the client, never of the id, the kind or the grants.
 */
import { z } from 'zod';

import type { Caller } from '#protocol';
import { cleanText } from './clean-text.ts';
import type { Risk } from './define-function.ts';

/** Limits of the calls of a principal; an absent limit allows everything. */
export interface Grants {
  /** Workers (`coder`) or function ids (`coder::search`). */
  readonly only?: readonly string[];
  /** Only functions that change nothing and run nothing. */
  readonly isReadOnly?: boolean;
  /** The policy of the operator that decides about its calls. */
  readonly policy?: string | undefined;
}

/** Functions that no caller may call in one namespace. */
export interface Denial {
  readonly functions: readonly string[];
  readonly permissions: readonly string[];
  readonly risks: readonly Risk[];
}

export interface Principal extends Caller {
  readonly grants: Grants;
}

const MAX_NAME = 64;
const ALL: Grants = {};

/**
 * A principal of this process, such as that of a surface; `grants` limit its calls.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { makePrincipal } from 'workcell/contract';
 *
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }] });
 * const caller = makePrincipal('local', 'reviewer', { isReadOnly: true });
 * console.log((await cell.call('coder::tree', {}, { caller })).root.kind); // dir
 * const files = [{ path: 'a.md', content: '' }];
 * const error = await cell.call('coder::create-file', { files }, { caller }).catch((thrown) => thrown);
 * console.log(error.code); // forbidden
 * await cell.close();
 * ```
 */
export function makePrincipal(kind: Caller['kind'], name: string, grants = ALL): Principal {
  return { id: `${kind}:${name}`, kind, label: name, grants };
}

/** The same principal with its client program, as that program names itself, and the number of its session. */
export function withClient(edge: Principal, named: Caller['client'], session?: number): Principal {
  const id = session === undefined ? edge.id : `${edge.id}#${session}`;
  const name = cleanText(named?.name ?? '', MAX_NAME);
  if (!named || name === '') return { ...edge, id };
  const client = { name, version: cleanText(named.version, MAX_NAME) };
  return { ...edge, id, label: labelOf(name, edge, session), client };
}

/** The session distinguishes local programs; a token is part of the name. */
function labelOf(name: string, { kind, label }: Principal, session: number | undefined): string {
  if (session === undefined) return `${name} (${label})`;
  return kind === 'local' ? `${name} #${session}` : `${name} #${session} (${label})`;
}

/** Distinguishes callers in lists: by the principal, and by its program where several share one. */
export function callerKey({ id, client }: Caller): string {
  return client ? `${id} ${client.name}` : id;
}

/** The caller of a job or a sandbox as lists show it. */
export const CallerRefSchema = z.object({
  id: z.string().describe('Caller id from engine::callers::list.'),
  label: z.string().describe('The MCP client with its session, the token or the peer.'),
});

export function callerRef(caller: Caller | undefined): z.input<typeof CallerRefSchema> | undefined {
  return caller && { id: callerKey(caller), label: caller.label };
}

/** The caller for logs: the kind, which a peer cannot claim, before the label. */
export function spellCaller({ kind, label }: Caller): string {
  return `${kind} ${label}`;
}
