/**
 * A third-party program: the published iii client, as npm installs it, in a process of its own.
 *
 * It serves `guest::greet` and `guest::nothing`, makes the calls given as JSON, prints the results and a ready line,
 * and runs until it is stopped.
 */
import { registerWorker } from 'iii-sdk';

const [url, calls] = process.argv.slice(2);
for (const level of ['debug', 'info', 'warn', 'error']) console[level] = () => {};
const print = console.log.bind(console);
console.log = () => {};

const iii = registerWorker(url, { workerName: 'guest', otel: { enabled: false }, enableMetricsReporting: false });
iii.registerFunction('guest::greet', ({ name }) => Promise.resolve({ text: `hello ${name}` }));
iii.registerFunction('guest::nothing', () => Promise.resolve(undefined));
for (const [functionId, payload] of JSON.parse(calls)) {
  try {
    print(JSON.stringify({ result: await iii.trigger({ function_id: functionId, payload }) }));
  } catch (error) {
    print(JSON.stringify({ error: error.message }));
  }
}
print(`ready on ${url}`);
process.on('SIGTERM', () => void iii.shutdown().then(() => process.exit(0)));
