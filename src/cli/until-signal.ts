/** Waits for the operator to end the process. A second signal exits without the clean-up. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(130));
        resolve(signal);
      });
    }
  });
}
