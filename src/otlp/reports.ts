/** Logs when a collector stops accepting data, and when it accepts data again: once each, not for every attempt. */
import type { Log } from '#contract';

export type Report = (result: { code: number; error?: Error }) => void;

export function reporter(log: Log, of: { what: string; endpoint: string }): Report {
  let isDown = false;
  return ({ code, error }) => {
    const isFailure = code !== 0;
    if (isFailure === isDown) return;
    isDown = isFailure;
    if (isDown) {
      const why = error && (error.message || error.name);
      log.warn('the collector does not accept telemetry; what it misses is dropped', { ...of, why });
    } else log.info('the collector accepts telemetry again', of);
  };
}

interface Exporter<T> {
  export(items: T, done: Report): void;
}

/** The same exporter, with a report of each result. */
export function reporting<T, E extends Exporter<T>>(exporter: E, report: Report): E {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      report(result);
      done(result);
    });
  return exporter;
}
