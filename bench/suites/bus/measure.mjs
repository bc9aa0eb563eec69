/** One round of a client: a number of echoes, so many at a time. */
import { median, percentile } from '../../statistics.mjs';

/** `call` sends a request and resolves with the answer, which has to be its echo. */
export async function measure(call, { bytes, calls, inFlight }) {
  const request = requestOf(bytes);
  const latencies = [];
  let left = calls;
  const lane = async () => {
    while (left-- > 0) {
      const sent = performance.now();
      const { text } = await call(request);
      latencies.push(performance.now() - sent);
      if (text.length !== request.text.length) throw new Error('the answer is not an echo');
    }
  };

  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - started) / 1000;

  return { p50: median(latencies), p99: percentile(latencies, 0.99), throughput: calls / seconds };
}

/** A request that is `bytes` long as JSON. */
function requestOf(bytes) {
  return { text: 'x'.repeat(bytes - JSON.stringify({ text: '' }).length) };
}
