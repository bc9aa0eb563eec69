/** A running `workcell start`, asked over streamable HTTP: one session, one connection that is kept open. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

const PROTOCOL = '2025-11-25';
const READY = /\bready on ws:(\S+)/;

export class HttpServer {
  #child;
  #url;
  #session;
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #lastId = 0;

  static async start(args) {
    const server = new HttpServer();
    server.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    server.#url = `http:${await addressOf(server.#child)}/mcp`;
    const clientInfo = { name: 'bench', version: '0' };
    await server.#request('initialize', { protocolVersion: PROTOCOL, capabilities: {}, clientInfo });
    return server;
  }

  /** The text that a tool answers with. */
  async call(name, payload) {
    const { isError, content } = await this.#request('tools/call', { name, arguments: payload });
    if (isError) throw new Error(`${name}: ${content[0].text}`);
    return content[0].text;
  }

  async stop() {
    this.#agent.destroy();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill();
    await exited;
  }

  async #request(method, params) {
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(this.#session && { 'Mcp-Session-Id': this.#session, 'MCP-Protocol-Version': PROTOCOL }),
    };
    const asking = request(this.#url, { method: 'POST', headers, agent: this.#agent });
    asking.end(JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method, params }));
    const [answer] = await once(asking, 'response');
    this.#session ??= answer.headers['mcp-session-id'];
    const { result, error } = JSON.parse(messageOf(await text(answer)));
    if (error) throw new Error(error.message);
    return result;
  }
}

/** An answer is JSON, or one event that holds it. */
function messageOf(body) {
  return body.startsWith('{') ? body : /^data: (\{.*)$/m.exec(body)[1];
}

async function addressOf(child) {
  let printed = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    printed += chunk;
    const address = READY.exec(printed)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error(`workcell start ended without being ready: ${printed}`);
}
