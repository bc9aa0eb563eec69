/**
 * S codes of failed file operations, for every worker that offers the operations.
 *
 * A worker whose published codes differ overrides these, with the reason.
 */
import type { FaultReason, HostReason } from '#host';
import type { FileCode } from './file-operation.ts';

/** By the reason that the system reports. */
export const codeOfHostReason = {
  absolute: 'S210',
  relative: 'S210',
  root: 'S210',
  'invalid-name': 'S210',
  missing: 'S211',
  hidden: 'S211',
  // The target of a dangling symlink does not exist.
  dangling: 'S211',
  'not-a-file': 'S212',
  'not-a-directory': 'S212',
  exists: 'S213',
  'not-empty': 'S214',
  protected: 'S215',
  escape: 'S215',
  denied: 'S215',
  'not-a-parent': 'S216',
  attributes: 'S216',
  unsaved: 'S216',
  io: 'S216',
} as const satisfies Record<HostReason, FileCode>;

/** By reason of the operation. S218 has no shared meaning: each worker uses it for another of these. */
export const codeOfFault = {
  'bad-request': 'S210',
  missing: 'S211',
  exists: 'S213',
  'too-large': 'S216',
  stream: 'S216',
  busy: 'S216',
} as const satisfies Record<FaultReason, FileCode>;
