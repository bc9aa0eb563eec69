/** A file operation refused because of the request or of the stream that feeds it (not because of the OS). */

export type FaultReason =
  /** The request contradicts itself or the file. */
  | 'bad-request'
  | 'missing'
  | 'exists'
  /** More bytes than the operator allows. */
  | 'too-large'
  /** The stream of bytes broke, stalled or cannot be opened. */
  | 'stream'
  /** The limit of concurrent operations is reached. */
  | 'busy';

export class FileFault extends Error {
  override readonly name = 'FileFault';
  readonly reason: FaultReason;

  constructor(reason: FaultReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
