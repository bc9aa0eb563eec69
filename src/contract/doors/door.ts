/**
 * The door that a call came through, stored in the call's metadata: `model` (MCP), `http` or `cli`.
 *
 * A program on the bus gets the contract of the iii workers to the letter. Callers at these doors get help on top of
 * it: unknown fields are refused, shell lines are refused, and a model gets its own defaults.
 */
import { isMap } from '../schema/is-map.ts';

const DOORS = ['model', 'http', 'cli'] as const;
export type Door = (typeof DOORS)[number];

/**
 * The metadata of a call that comes through this door.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { throughDoor } from 'workcell/contract';
 *
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }] });
 * const options = { metadata: throughDoor('model') };
 * const error = await cell.call('coder::tree', { depth: 1 }, options).catch((thrown) => thrown);
 * console.log(error.message.split(';')[0]); // unknown field `depth` (did you mean `max_depth`?)
 * await cell.close();
 * ```
 */
export function throughDoor(door: Door): { workcell_door: Door } {
  return { workcell_door: door };
}

/** The metadata of a nested call: a program makes it, whatever door the first came through. */
export function withoutDoor(metadata: unknown): unknown {
  if (doorOf(metadata) === undefined) return metadata;
  const { workcell_door: _, ...rest } = metadata as Record<string, unknown>;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** Undefined for a call from the bus itself. Any peer may claim a door: it only makes the answer stricter. */
export function doorOf(metadata: unknown): Door | undefined {
  // A loop, because every call through a door is checked here, and a schema takes many times as long.
  return isMap(metadata) ? DOORS.find((door) => door === metadata.workcell_door) : undefined;
}
