import { registerWorker } from 'iii-sdk';

const iii = registerWorker(process.env.III_URL ?? 'ws://127.0.0.1:49134', {
  workerName: 'reviews',
  otel: { enabled: false },
});
const notes = [];

iii.registerFunction(
  'reviews::add',
  async ({ path, note }) => {
    notes.push({ path, note });
    return { count: notes.length };
  },
  {
    description: 'Leave a review note on a file.',
    request_format: {
      type: 'object',
      properties: { path: { type: 'string' }, note: { type: 'string', description: 'What the author should know.' } },
      required: ['path', 'note'],
    },
    metadata: { effect: 'write' },
  },
);

// An answer proves that the registration before it was accepted.
await iii.trigger({ function_id: 'engine::workers::list', payload: {} });
console.log('ready');
