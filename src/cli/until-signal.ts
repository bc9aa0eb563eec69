/**
 * Waits for the operator to end the process. A signal that nothing waits for exits without the clean-up, so that a
 * second one ends what hangs.
 */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const exitAtOnce = () => process.exit(130);

export function untilSignal(): Promise<NodeJS.Signals> {
  for (const signal of SIGNALS) process.off(signal, exitAtOnce);
  return new Promise((resolve) => {
    const came = (signal: NodeJS.Signals) => {
      for (const each of SIGNALS) process.off(each, came).once(each, exitAtOnce);
      resolve(signal);
    };
    for (const signal of SIGNALS) process.on(signal, came);
  });
}
