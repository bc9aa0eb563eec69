/** Ids that begin with the id of the node where the thing lives: UUIDs of version 8, with 90 random bits. */
import { randomUUID } from 'node:crypto';

const TAGGED = /^(?:job-)?([0-9a-f]{8})-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** `tag`: 8 hex digits. */
export function taggedId(tag: string): string {
  const id = randomUUID();
  return `${tag}${id.slice(8, 14)}8${id.slice(15)}`;
}

/** The node of a sandbox or a job; undefined for an id without one. */
export function tagOf(id: string): string | undefined {
  return TAGGED.exec(id)?.[1];
}
