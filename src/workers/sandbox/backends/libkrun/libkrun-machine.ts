/**
 * One machine of libkrun: our agent runs in it as a command, and its standard input and output are the channel.
 *
 * The machine has processes of its own on the host, which microsandbox looks after, so it has no process id here.
 */
import { Duplex } from 'node:stream';

import type { Ending, Instance, Usage } from '../backend.ts';
import type { ExecStream, KrunMachine } from './microsandbox.ts';

const STDERR_TAIL_BYTES = 4096;

type AgentInput = NonNullable<Awaited<ReturnType<ExecStream['takeStdin']>>>;

export class LibkrunMachine implements Instance {
  readonly channel: Duplex;
  readonly pid = 0;
  readonly exited: Promise<Ending>;
  readonly #machine: KrunMachine;
  #killing: Promise<void> | undefined;
  #disposing: Promise<void> | undefined;

  private constructor(machine: KrunMachine, output: ExecStream, input: AgentInput) {
    const agent = new AgentChannel(output, input);
    this.#machine = machine;
    this.channel = agent;
    // Whoever speaks over it learns of its end there; before that nobody listens.
    this.channel.on('error', () => {});
    this.exited = agent.exited;
  }

  static async start(machine: KrunMachine, agent: string): Promise<LibkrunMachine> {
    const output = await machine.execStreamWith(agent, (options) => options.args(['--io']).user('root').stdinPipe());
    const input = await output.takeStdin();
    if (input === null) throw new Error('microsandbox gave no way to write to the agent');
    return new LibkrunMachine(machine, output, input);
  }

  /** Processes are not counted, nor what the kernel of the guest ended. */
  async usage(): Promise<Usage | undefined> {
    const { memoryBytes, vcpuTimeNs, upperUsedBytes } = await this.#machine.metrics();
    return { memoryBytes, pids: 0, cpuMs: vcpuTimeNs / 1e6, diskBytes: upperUsedBytes ?? 0, oomKills: 0 };
  }

  async kill(): Promise<void> {
    this.#killing ??= this.#machine.kill();
    await this.#killing;
    this.channel.destroy();
    await this.exited;
  }

  async dispose(): Promise<void> {
    this.#disposing ??= this.#machine.destroy({ force: true });
    this.channel.destroy();
    await this.#disposing;
  }
}

/** Events one way, writes the other; the next event is asked for when there is room for it. */
class AgentChannel extends Duplex {
  readonly exited: Promise<Ending>;
  readonly #output: ExecStream;
  readonly #input: AgentInput;
  #stderr = Buffer.alloc(0);
  #resolveExited!: (ending: Ending) => void;

  constructor(output: ExecStream, input: AgentInput) {
    super();
    this.#output = output;
    this.#input = input;
    this.exited = new Promise((resolve) => (this.#resolveExited = resolve));
  }

  override _read(): void {
    this.#next().then(
      (bytes) => this.push(bytes),
      (error: unknown) => this.destroy(error as Error),
    );
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#input.write(chunk).then(() => done(), done);
  }

  override _final(done: (error?: Error) => void): void {
    this.#input.close().then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#end(null);
    done(error);
  }

  /** What the agent wrote next; null when it has ended. */
  async #next(): Promise<Buffer | null> {
    for (;;) {
      const event = await this.#output.recv();
      if (event?.kind === 'stdout') return Buffer.from(event.data);
      if (event?.kind === 'stderr') {
        this.#stderr = Buffer.concat([this.#stderr, event.data]).subarray(-STDERR_TAIL_BYTES);
      }
      if (event !== null && event.kind !== 'exited') continue;
      this.#end(event?.code ?? null);
      return null;
    }
  }

  #end(code: number | null): void {
    this.#resolveExited({ code, signal: null, stderrTail: this.#stderr.toString().trim() });
  }
}
