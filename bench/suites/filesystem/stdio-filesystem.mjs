/** filesystem behind the same door as the peer: MCP's tools/call on standard input and output, one line a message. */
import { createInterface } from 'node:readline';

import { answer, CallControl, parseConfig, silentLog } from '#contract';
import { filesystem } from '#workers/filesystem';

const [root, maxFileSize] = process.argv.slice(2);
const config = parseConfig(
  filesystem.config,
  { paths: [root], max_file_size: maxFileSize, fsync: false },
  'filesystem',
);
const context = await filesystem.open(config, silentLog);
const functions = new Map(filesystem.functions.map((fn) => [fn.id, fn]));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const reply = (result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  if (method === 'tools/call') void callTool(params).then(reply);
  else reply({});
});

async function callTool({ name, arguments: payload }) {
  const surroundings = { bus: undefined, log: silentLog, control: new CallControl() };
  const call = { callId: '1', payload };
  const { result } = await answer({ def: filesystem, context }, functions.get(name), call, surroundings);
  return { isError: !result.success, content: [{ type: 'text', text: JSON.stringify(result) }] };
}
