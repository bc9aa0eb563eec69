/**
 * Who a call is made for.
 *
 * The engine makes it once, where the caller comes in: what a peer says about itself may be a part of the label and the
 * client, never of the id, the kind or the grants.
 */
import type { Caller } from '#protocol';
import { cleanText } from './clean-text.ts';
import type { Risk } from './define-function.ts';

/** What a principal may call: everything that is not narrowed here. */
export interface Grants {
  /** Workers (`coder`) or function ids (`coder::search`). */
  readonly only?: readonly string[];
  /** Only what changes nothing and runs nothing. */
  readonly isReadOnly?: boolean;
}

/** What nobody may call in one namespace. */
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

export function makePrincipal(kind: Caller['kind'], name: string, grants = ALL): Principal {
  return { id: `${kind}:${name}`, kind, label: name, grants };
}

/** The same principal with the program that it uses, by that program's own word, and the number of its session. */
export function withClient(edge: Principal, told: Caller['client'], session?: number): Principal {
  const id = session === undefined ? edge.id : `${edge.id}#${session}`;
  const name = cleanText(told?.name ?? '', MAX_NAME);
  if (!told || name === '') return { ...edge, id };
  const number = session === undefined ? '' : ` #${session}`;
  const client = { name, version: cleanText(told.version, MAX_NAME) };
  return { ...edge, id, label: `${name}${number} (${edge.label})`, client };
}

/** As a log shows it: the kind, which nobody can claim, before the label. */
export function spellCaller({ kind, label }: Caller): string {
  return `${kind} ${label}`;
}
