/**
 * The loop of an agent over MCP: list the tools, let the model choose one, call it, give the model the result, until it is done.
 *
 * The model is a script, so that this runs anywhere; `nextMove` is where a real one goes. It gets what any model gets:
 * the tools and the results so far.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const TASK = 'sum.js subtracts where it should add. Mend it.';
const MAX_MOVES = 10;

const workspace = mkdtempSync(join(tmpdir(), 'agent-over-mcp-'));
writeFileSync(join(workspace, 'sum.js'), 'export const sum = (numbers) =>\n  numbers.reduce((a, b) => a - b, 0);\n');

const client = new Client({ name: 'agent-over-mcp', version: '1.0.0' });
try {
  // Structured results, because a script reads them; a real model reads the text that comes without this.
  const args = ['mcp', '--workspace', workspace, '--tools', 'coder,shell::exec', '--structured'];
  await client.connect(new StdioClientTransport({ command: 'workcell', args }));
  const { tools } = await client.listTools();
  console.log(`task: ${TASK}\ntools: ${tools.map(({ name }) => name).join(', ')}`);

  const results = [];
  for (let move = nextMove(tools, results); 'tool' in move; move = nextMove(tools, results)) {
    assert(results.length < MAX_MOVES, 'the model does not come to an end');
    const result = await client.callTool({ name: move.tool, arguments: move.input });
    console.log(`${move.tool} ${JSON.stringify(move.input)}${result.isError ? ' failed' : ''}`);
    results.push(result);
  }
  console.log(nextMove(tools, results).text);
  assert.match(readFileSync(join(workspace, 'sum.js'), 'utf8'), /a \+ b/);
} finally {
  await client.close();
  rmSync(workspace, { recursive: true });
}

/** A reply of the model: a tool to call, or its last words. */
function nextMove(tools, results) {
  const [found, edited, read] = results.map(({ structuredContent }) => structuredContent);
  assert(tools.some(({ name }) => name === 'coder_update_file'));
  if (!found) return { tool: 'coder_search', input: { query: 'a - b' } };
  if (!edited) {
    const [{ path, line, text }] = found.content_matches;
    const op = { op: 'update_lines', from_line: line, to_line: line, content: text.replace('a - b', 'a + b') };
    return { tool: 'coder_update_file', input: { files: [{ path, ops: [op] }] } };
  }
  if (!read) return { tool: 'shell_exec', input: { command: 'cat', args: ['sum.js'] } };
  return { text: `done: ${read.stdout.split('\n')[1].trim()}` };
}
