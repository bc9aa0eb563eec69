/** The log interface; the assembler decides the format. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Record<string, unknown>;

/** The same log, with fields on every line. */
export function logWith(log: Log, carried: LogFields): Log {
  return {
    debug: (message, fields) => log.debug(message, { ...fields, ...carried }),
    info: (message, fields) => log.info(message, { ...fields, ...carried }),
    warn: (message, fields) => log.warn(message, { ...fields, ...carried }),
    error: (message, fields) => log.error(message, { ...fields, ...carried }),
  };
}

/**
 * A log that drops everything.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { silentLog } from 'workcell/contract';
 *
 * const messages = [];
 * const log = { ...silentLog, error: (message) => messages.push(message) };
 * log.info('dropped');
 * log.error('stored');
 * console.log(messages.join()); // stored
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }], log });
 * await cell.close();
 * ```
 */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
