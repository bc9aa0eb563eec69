/**
 * Waits for a signal of the operator. A second signal exits without the clean-up, in case the clean-up hangs.
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
