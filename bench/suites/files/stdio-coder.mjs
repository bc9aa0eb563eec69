/** coder behind the same door as the peer: MCP's tools/call on standard input and output, one line a message. */
import { createInterface } from 'node:readline';

import { openCoder } from './open-coder.mjs';

const [, , root, config = '{}'] = process.argv;
const call = await openCoder(root, JSON.parse(config));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const reply = (result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  if (method === 'tools/call') void callTool(params).then(reply);
  else reply({});
});

async function callTool({ name, arguments: payload }) {
  return { content: [{ type: 'text', text: JSON.stringify(await call(name, payload)) }] };
}
