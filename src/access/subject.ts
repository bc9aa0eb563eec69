/**
 * What a call is about, as far as its payload says: the paths and the program that rules match.
 *
 * The payload is not validated yet, and a function may take paths where no field shows them, such as inside a patch. What
 * cannot be read is `unknown`: an allowing rule does not match it, an asking or denying rule does.
 */
import { posix } from 'node:path';

import { isMap, type Subject } from '#contract';
import { splitWords, WordsError } from '#host';

export const UNKNOWN = Symbol('unknown');

export interface CallSubject {
  /** From the workspace where they lie in it, else absolute. Absent for a function that declares no paths. */
  readonly paths?: readonly string[] | typeof UNKNOWN;
  /** As written. Absent for a function that declares no command. */
  readonly program?: string | typeof UNKNOWN;
}

export function subjectOf(declared: Subject | undefined, payload: unknown, workspace: string): CallSubject {
  if (!declared) return {};
  const { paths, program, opaque = [] } = declared;
  const isOpaque = opaque.some((field) => valuesAt(payload, field).some((value) => value != null && value !== ''));
  return {
    ...(paths && { paths: isOpaque ? UNKNOWN : pathsAt(payload, paths, workspace) }),
    ...(program !== undefined && { program: isOpaque ? UNKNOWN : programAt(payload, program) }),
  };
}

function pathsAt(payload: unknown, fields: readonly string[], workspace: string): CallSubject['paths'] {
  const found = fields.flatMap((field) => valuesAt(payload, field)).filter((value) => value != null);
  if (found.length === 0 || !found.every((value) => typeof value === 'string')) return UNKNOWN;
  return found.map((path) => fromWorkspace(path, workspace));
}

/** The path without `.` and `..`; `..` beyond the workspace makes it absolute, so that no glob over the workspace matches. */
function fromWorkspace(path: string, workspace: string): string {
  const whole = posix.resolve(workspace, path);
  if (whole === workspace) return '.';
  const inside = workspace === '/' ? '/' : `${workspace}/`;
  return whole.startsWith(inside) ? whole.slice(inside.length) : whole;
}

/** The first word of a command; the rest, if the function takes arguments apart, does not matter. */
function programAt(payload: unknown, field: string): CallSubject['program'] {
  const [command] = valuesAt(payload, field);
  const line = Array.isArray(command) ? String(command[0] ?? '') : command;
  if (typeof line !== 'string') return UNKNOWN;
  try {
    const word = isMap(payload) && Array.isArray(payload.args) ? line : splitWords(line)[0];
    return word === undefined || word === '' ? UNKNOWN : word;
  } catch (error) {
    if (error instanceof WordsError) return UNKNOWN;
    throw error;
  }
}

/** The values at a field such as `path`, `paths[]` or `files[].path`; a name without `[]` may also hold a list. */
function valuesAt(payload: unknown, field: string): unknown[] {
  return field.split('.').reduce<unknown[]>(
    (values, step) => {
      const isList = step.endsWith('[]');
      const key = isList ? step.slice(0, -2) : step;
      const next = values.flatMap((value) => (isMap(value) && key in value ? [value[key]] : []));
      return isList ? next.flat() : next;
    },
    [payload],
  );
}
