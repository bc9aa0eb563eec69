/** Where a part of the system says what happened; the assembler decides how it looks. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Record<string, unknown>;

/** The same log; what every line of it carries. */
export function logWith(log: Log, carried: LogFields): Log {
  return {
    debug: (message, fields) => log.debug(message, { ...fields, ...carried }),
    info: (message, fields) => log.info(message, { ...fields, ...carried }),
    warn: (message, fields) => log.warn(message, { ...fields, ...carried }),
    error: (message, fields) => log.error(message, { ...fields, ...carried }),
  };
}

/** A log that keeps nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
