/**
 * One command in the guest, as a process.
 *
 * On request the guest kills it with its descendants. If it does not confirm that in time, the command counts as ended
 * here, and its further output is dropped.
 */
import { constants } from 'node:os';

import type { OutputPiece, Process, ProcessEnd, ProcessInput } from '#host';
import { OP } from './frames.ts';
import { AgentTooOld } from './guest-error.ts';
import type { GuestStream } from './guest-stream.ts';
import { RequestBytes, UNSAID } from './request-bytes.ts';

/** How long the guest may take to kill a command. */
const KILL_MS = 2000;

/** `maxOutputBytes` of a command whose whole output is sent, as fast as it is read here. */
export const ALL_OUTPUT = UNSAID;

/** Version of the protocol that knows terminals, starts and signals. */
const LIVE_VERSION = 2;

/** Flags of the request. */
const ASKED = { input: 1, terminal: 2, followed: 4 };
/** Flags of the answer. */
const FLAG = { stdoutCut: 1, stderrCut: 2, killed: 4, signalled: 8 };

/** The key that ends the input of a program that reads lines from a terminal. */
const END_OF_INPUT = Buffer.from([4]);

/** The guest's signals are those of Linux, whatever the host is. */
const LINUX_SIGNALS: Partial<Record<NodeJS.Signals, number>> = {
  ...constants.signals,
  ...{ SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGUSR1: 10, SIGUSR2: 12, SIGTERM: 15, SIGWINCH: 28 },
};

export interface GuestCommand {
  /** A first word without a slash is looked up in the PATH of `env`. */
  argv: readonly string[];
  env: readonly (readonly [name: string, value: string])[];
  cwd: string;
  /** Runs as the agent's user, which is root in the guest, when absent. */
  uid?: number;
  gid?: number;
  /** Whether it gets input; otherwise it reads end of file at once. */
  hasInput?: boolean;
  /** A terminal of this size instead of pipes: its output is one stream, and it always has input. */
  terminal?: { columns: number; rows: number } | undefined;
  /** Whether the guest reports its start, and passes signals on to it. */
  isFollowed?: boolean;
  /** How much of each stream the guest sends; it reads and drops the rest. */
  maxOutputBytes: number;
}

/** Carries requests to the guest. */
interface Guest {
  readonly version: number;
  request(op: number, payload: Buffer, options: { signal: AbortSignal }): Promise<GuestStream>;
}

export class GuestProcess implements Process {
  readonly output: AsyncIterable<OutputPiece>;
  readonly input: ProcessInput;
  readonly resize: Process['resize'];
  /** Rejects with a `GuestError` when it could not be started. */
  readonly done: Promise<ProcessEnd>;
  readonly #stream: GuestStream;
  readonly #version: number;
  #stopWaiting!: () => void;

  private constructor(stream: GuestStream, { terminal }: GuestCommand, version: number, startedMs: number) {
    this.#stream = stream;
    this.#version = version;
    this.output = stream.output();
    this.input = {
      write: (bytes) => stream.send(bytes),
      end: () => (terminal ? void stream.send(END_OF_INPUT) : stream.end()),
    };
    this.resize =
      terminal && (({ columns, rows }) => stream.post(OP.resize, new RequestBytes().u16(rows).u16(columns).bytes()));
    this.done = this.#run(startedMs);
    // Readers of the output get the error themselves.
    this.done.catch(() => {});
  }

  /** Waits for a slot; an aborted signal ends the wait. */
  static async start(guest: Guest, command: GuestCommand, signal: AbortSignal): Promise<GuestProcess> {
    const { version } = guest;
    const isLive = version >= LIVE_VERSION;
    if (command.terminal && !isLive) throw new AgentTooOld('a terminal', { version, needed: LIVE_VERSION });
    const startedMs = performance.now();
    const request = requestOf({ ...command, isFollowed: isLive && command.isFollowed === true });
    return new GuestProcess(await guest.request(OP.exec, request, { signal }), command, version, startedMs);
  }

  /** Resolves when a followed command runs, or has ended. An older agent does not report it. */
  async started(): Promise<void> {
    if (this.#version < LIVE_VERSION) return;
    await Promise.race([this.#stream.started, this.done]);
  }

  async signal(): Promise<void> {
    this.#stream.cancel();
    const timer = setTimeout(this.#stopWaiting, KILL_MS).unref();
    await this.done.catch(() => {});
    clearTimeout(timer);
  }

  /** Only for a followed command. */
  async sendSignal(name: NodeJS.Signals): Promise<void> {
    if (this.#version < LIVE_VERSION)
      throw new AgentTooOld('a signal', { version: this.#version, needed: LIVE_VERSION });
    this.#stream.post(OP.signal, new RequestBytes().u8(LINUX_SIGNALS[name]!).bytes());
  }

  async #run(startedMs: number): Promise<ProcessEnd> {
    const given = new Promise<undefined>((resolve) => (this.#stopWaiting = () => resolve(undefined)));
    const answer = await Promise.race([this.#stream.answer, given]);
    if (!answer) this.#stream.drop();
    const [code = 255, flags = answer ? 0 : FLAG.killed] = answer ?? [];
    // A cancelled command that was not killed had ended by itself before.
    const isKilled = (flags & FLAG.killed) !== 0;
    return {
      exitCode: isKilled ? null : code,
      signal: isKilled ? 'SIGKILL' : (flags & FLAG.signalled) !== 0 ? signalOf(code - 128) : null,
      durationMs: Math.round(performance.now() - startedMs),
      dropped: { stdout: (flags & FLAG.stdoutCut) !== 0, stderr: (flags & FLAG.stderrCut) !== 0 },
    };
  }
}

function signalOf(number: number): NodeJS.Signals | null {
  const found = Object.entries(LINUX_SIGNALS).find(([, value]) => value === number);
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}

function requestOf({ argv, env, cwd, uid, gid, hasInput, terminal, isFollowed, maxOutputBytes }: GuestCommand): Buffer {
  const flags =
    (hasInput === true ? ASKED.input : 0) |
    (terminal ? ASKED.terminal : 0) |
    (isFollowed === true ? ASKED.followed : 0);
  const request = new RequestBytes()
    .u32(uid ?? UNSAID)
    .u32(gid ?? UNSAID)
    .u32(maxOutputBytes)
    .u32(maxOutputBytes)
    .u8(flags);
  if (terminal) request.u16(terminal.rows).u16(terminal.columns);
  request.u32(argv.length).u32(env.length).text(cwd);
  for (const word of argv) request.text(word);
  for (const [name, value] of env) request.text(`${name}=${value}`);
  return request.bytes();
}
