/** Why a file operation cannot be done that is nobody's fault but the request's, or that of whom the bytes come from. */

export type FaultReason =
  /** The request contradicts itself or what it is about. */
  | 'bad-request'
  | 'missing'
  | 'exists'
  /** More bytes than the operator allows. */
  | 'too-large'
  /** The stream of bytes broke, stalled or cannot be had. */
  | 'stream'
  /** As many are under way as may be. */
  | 'busy';

export class FileFault extends Error {
  override readonly name = 'FileFault';
  readonly reason: FaultReason;

  constructor(reason: FaultReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
