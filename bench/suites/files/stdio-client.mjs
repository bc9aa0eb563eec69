/** An MCP server in a process of its own, asked over its standard input and output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export class StdioServer {
  #child;
  #waiting = new Map();
  #lastId = 0;

  /** One that runs in Node. */
  static start(args, env) {
    return StdioServer.startProgram(process.execPath, args, env);
  }

  static async startProgram(program, args, env = process.env) {
    const server = new StdioServer();
    server.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], env });
    createInterface({ input: server.#child.stdout }).on('line', (line) => server.#receive(JSON.parse(line)));
    server.#child.on('exit', (code) => server.#giveUp(new Error(`${program} ${args[0]} ended with ${code}`)));
    const clientInfo = { name: 'bench', version: '0' };
    await server.#request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    server.#send({ method: 'notifications/initialized' });
    return server;
  }

  /** The text that a tool answers with. */
  async call(name, payload) {
    const { isError, content } = await this.#request('tools/call', { name, arguments: payload });
    if (isError) throw new Error(`${name}: ${content[0].text}`);
    return content[0].text;
  }

  /** The whole answer, a failure too. */
  reply(name, payload) {
    return this.#request('tools/call', { name, arguments: payload });
  }

  async tools() {
    return (await this.#request('tools/list', {})).tools;
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill();
    await exited;
  }

  #request(method, params) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #receive({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }

  #giveUp(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
