/**
 * Failures of the workers that serve one workspace, coder (`C…`) and agent (`A…`): a number means the same in both.
 *
 * `missing` has one wording for two reasons: a protected path looks like one that does not exist.
 */
import type { HostReason } from '#host';

export const workspaceFailures = {
  malformed: {
    meaning: 'The request is malformed, or asks for something that this path cannot give.',
    http: 400,
    message: (d: { problem: string }) => d.problem,
  },
  missing: {
    meaning: 'The path does not exist, or it is protected.',
    http: 404,
    message: (d: { path: string; hint?: string }) => `${d.path} does not exist or is protected${d.hint ?? ''}`,
  },
  /** `keys` of the configuration that limit it; `key` is the one that did, null for a limit that is fixed. */
  tooLarge: (keys: string) => ({
    meaning: `The file is larger than ${keys}.`,
    http: 413,
    message: (d: { path: string; size: number; limit: number; key?: string | null; advice?: string }) =>
      `${d.path} is ${d.size} bytes; the limit is ${d.limit}${d.key === null ? '' : ` (${d.key ?? keys})`}${d.advice ?? ''}`,
  }),
  broken: {
    meaning: 'A system call or the worker failed; the text says which.',
    http: 500,
    message: (d: { problem: string }) => d.problem,
  },
};

/** Codes by reason of the system. */
export function workspaceCodes<Letter extends string>(letter: Letter) {
  return {
    absolute: `${letter}210`,
    relative: `${letter}210`,
    root: `${letter}210`,
    'not-a-file': `${letter}210`,
    'not-a-directory': `${letter}210`,
    missing: `${letter}211`,
    protected: `${letter}211`,
    hidden: `${letter}211`,
    escape: `${letter}215`,
    dangling: `${letter}215`,
    exists: `${letter}216`,
    denied: `${letter}216`,
    'not-a-parent': `${letter}216`,
    'not-empty': `${letter}216`,
    'invalid-name': `${letter}216`,
    attributes: `${letter}216`,
    unsaved: `${letter}216`,
    io: `${letter}216`,
  } as const satisfies Record<HostReason, string>;
}
