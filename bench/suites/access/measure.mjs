/** One call after another, for a time. */
import { median } from '../../statistics.mjs';

const REQUESTS = {
  read: () => ['coder::read-file', { path: 'read.ts' }],
  edit: (count) => {
    const op = { op: 'update_lines', from_line: 1, to_line: 1, content: `edit ${count}` };
    return ['coder::update-file', { files: [{ path: 'edited.ts', ops: [op] }] }];
  },
};

let count = 0;

export async function measure(call, work, ms) {
  const latencies = [];
  const started = performance.now();
  while (performance.now() - started < ms) {
    const [id, request] = REQUESTS[work](++count);
    const sent = performance.now();
    await call(id, request);
    latencies.push(performance.now() - sent);
  }
  return { p50: median(latencies), calls: latencies.length };
}
