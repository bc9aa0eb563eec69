/**
 * Subject of a call, from its payload: the paths and the program that rules match.
 *
 * The payload is not validated yet, and a function may take paths where no field shows them, such as inside a patch. An
 * unreadable subject is `UNKNOWN`: an allowing rule does not match it, an asking or denying rule does.
 */
import { posix } from 'node:path';

import { isMap, type Subject } from '#contract';
import { splitWords, WordsError } from '#host';

export const UNKNOWN = Symbol('unknown');

export interface SubjectPath {
  /** The path relative to the workspace if it is inside (`.` for the workspace itself), else absolute. */
  readonly path: string;
  /** Whether the call concerns everything below it too. */
  readonly isTree: boolean;
}

export interface CallSubject {
  /** Absent for a function that declares no paths. */
  readonly paths?: readonly SubjectPath[] | typeof UNKNOWN;
  /** The program as written. Absent for a function that declares no command. */
  readonly program?: string | typeof UNKNOWN;
}

/** A line that runs the same with and without a shell: no quotes, operators, expansions or assignments. */
const PLAIN_LINE = /^[\w@%+:,./-]+(?: +[\w@%+=:,./-]+)*$/;

export function subjectOf(declared: Subject | undefined, payload: unknown, workspace: string): CallSubject {
  if (!declared) return {};
  const { paths, ranges, trees, program, line, opaque = [] } = declared;
  const isOpaque = opaque.some((field) => valuesAt(payload, field).some((value) => value != null && value !== ''));
  return {
    ...((paths ?? ranges ?? trees) && { paths: isOpaque ? UNKNOWN : pathsOf(declared, payload, workspace) }),
    ...((program ?? line) !== undefined && { program: isOpaque ? UNKNOWN : programOf(declared, payload) }),
  };
}

function pathsOf(
  { paths = [], ranges = [], trees = [] }: Subject,
  payload: unknown,
  workspace: string,
): CallSubject['paths'] {
  const at = (fields: readonly string[]) => fields.flatMap((field) => valuesAt(payload, field)).filter(isGiven);
  const found = [
    ...at(paths).map((path) => ({ path, isTree: false })),
    ...at(ranges)
      .flatMap(withoutRange)
      .map((path) => ({ path, isTree: false })),
    ...at(trees).map((path) => ({ path, isTree: true })),
  ];
  if (found.length === 0) return UNKNOWN;
  const known = found.flatMap(({ path, isTree }) =>
    typeof path === 'string' ? [{ path: fromWorkspace(path, workspace), isTree }] : [],
  );
  return known.length === found.length ? known : UNKNOWN;
}

/** A file name may look like a range, so rules check both readings. */
function withoutRange(path: unknown): unknown[] {
  const bare = typeof path === 'string' ? path.replace(/:\d+(?:-\d*)?$/, '') : path;
  return bare === path ? [path] : [path, bare];
}

/** Resolves `.` and `..`. */
function fromWorkspace(path: string, workspace: string): string {
  const whole = posix.resolve(workspace, path);
  if (whole === workspace) return '.';
  const inside = workspace === '/' ? '/' : `${workspace}/`;
  return whole.startsWith(inside) ? whole.slice(inside.length) : whole;
}

function programOf({ program, line }: Subject, payload: unknown): CallSubject['program'] {
  const shellLine = line === undefined ? undefined : valuesAt(payload, line).find(isGiven);
  if (shellLine !== undefined && shellLine !== '') {
    return typeof shellLine === 'string' && PLAIN_LINE.test(shellLine) ? shellLine.split(' ')[0]! : UNKNOWN;
  }
  const command = program === undefined ? undefined : valuesAt(payload, program)[0];
  if (typeof command !== 'string') return UNKNOWN;
  const word = isMap(payload) && Array.isArray(payload.args) ? command : firstWord(command);
  return word || UNKNOWN;
}

function firstWord(line: string): string | undefined {
  try {
    return splitWords(line)[0];
  } catch (error) {
    if (error instanceof WordsError) return undefined;
    throw error;
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The values at a field such as `path`, `paths[]` or `files[].path`. */
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
