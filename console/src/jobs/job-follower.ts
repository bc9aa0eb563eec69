/**
 * Follows one job through the channels of its `attach` function: output to a view, input from it.
 *
 * Every byte has an offset. After a break, and when the view was behind, it attaches again where it stopped, so the
 * view gets each byte once, or the number of bytes that the ring of the job had dropped by then.
 */
import { CallFailure, type ChannelEnd } from '../bus.ts';

export type Stream = 'stdout' | 'stderr';

export interface Attached {
  reader: ChannelEnd;
  /** Only for a job that takes input. */
  writer?: ChannelEnd;
  /** How much output there was when the job was attached. */
  next: number;
}

/** Methods of the page's connection that the follower uses. */
export interface JobLine {
  attach(request: { since: number; input: boolean }): Promise<Attached>;
  open(end: ChannelEnd): WebSocket;
}

/** The open input of a job. */
export interface JobInput {
  /** False when the program has not read the earlier input: the bytes are dropped. */
  send(bytes: Uint8Array<ArrayBuffer>): boolean;
  resize(cols: number, rows: number): void;
}

/** Shows output. */
export interface OutputView {
  /** Called once, before any output: bytes before this offset were printed before the page attached. */
  begin(historyEnd: number): void;
  /** Called before output is read, so that a terminal can answer the first of it; undefined when the input is gone. */
  connect?(input: JobInput | undefined): void;
  /** `done` is called when the view has processed the bytes, so that the follower knows how far it is behind. */
  write(stream: Stream, bytes: Uint8Array, done: () => void): void;
  lost(count: number): void;
}

export interface JobExit {
  status: string;
  exit_code: number | null;
}

export type FollowState =
  | { kind: 'attaching' }
  | { kind: 'live'; hasInput: boolean }
  /** Temporary: the follower retries by itself. */
  | { kind: 'broken'; reason: string }
  | { kind: 'ended'; exit: JobExit }
  /** Final: the job is not known, or the server refuses. */
  | { kind: 'failed'; error: unknown };

type Item = { at: number } & (
  | { t: 'err'; base64: string }
  | { t: 'lost'; bytes: number }
  | { t: 'error'; code: string; message: string }
  | ({ t: 'exit' } & JobExit)
  | { t: 'resize' }
);

const RETRY_MS = 500;
/** A view that is further behind detaches from the channel; the job's ring keeps the rest. */
const BEHIND_BYTES = 8 * 2 ** 20;
const CAUGHT_UP_BYTES = 2 ** 20;
/** Limit of the input that the program has not read yet. */
const UNSENT_BYTES = 2 ** 20;
const PIECE_BYTES = 65_536;
/** Codes of temporary failures, which the follower retries. */
const PASSING = new Set(['TIMEOUT', 'connection_lost', 'S224']);
const NO_INPUT = 'S221';

export class JobFollower implements JobInput {
  readonly #line: JobLine;
  readonly #view: OutputView;
  readonly #onState: (state: FollowState) => void;
  #reader: WebSocket | undefined;
  #writer: WebSocket | undefined;
  #next = 0;
  #behindBytes = 0;
  #isBegun = false;
  #isOver = false;
  /** True while detached because the view is behind. */
  #isDetached = false;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor({ line, view, onState }: { line: JobLine; view: OutputView; onState: (state: FollowState) => void }) {
    this.#line = line;
    this.#view = view;
    this.#onState = onState;
    void this.#attach();
  }

  /** Offset of the next byte that the view gets. */
  get next(): number {
    return this.#next;
  }

  /** False when the program has not read the earlier input, or nothing is attached: the bytes are dropped. */
  send(bytes: Uint8Array<ArrayBuffer>): boolean {
    const writer = this.#openWriter();
    if (!writer || writer.bufferedAmount + bytes.length > UNSENT_BYTES) return false;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) writer.send(bytes.subarray(at, at + PIECE_BYTES));
    return true;
  }

  endInput(): void {
    this.#openWriter()?.send('{"eof":true}');
  }

  resize(cols: number, rows: number): void {
    this.#openWriter()?.send(JSON.stringify({ resize: [cols, rows] }));
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#retry);
    this.#leave();
  }

  #openWriter(): WebSocket | undefined {
    return this.#writer?.readyState === 1 ? this.#writer : undefined;
  }

  async #attach(): Promise<void> {
    try {
      this.#join(await this.#asked());
    } catch (error) {
      if (this.#isOver) return;
      const isPassing = error instanceof CallFailure && PASSING.has(error.fields.code);
      if (isPassing) this.#again(error.message);
      else this.#end({ kind: 'failed', error });
    }
  }

  /** Attaches with input if the job takes any; only attaching shows whether it does. */
  #asked(): Promise<Attached> {
    return this.#line.attach({ since: this.#next, input: true }).catch((error: unknown) => {
      if (!(error instanceof CallFailure) || error.fields.code !== NO_INPUT) throw error;
      return this.#line.attach({ since: this.#next, input: false });
    });
  }

  #join({ reader, writer, next }: Attached): void {
    if (this.#isOver) return;
    if (!this.#isBegun) this.#view.begin(next);
    this.#isBegun = true;
    if (!writer) return this.#read(reader, { hasInput: false });
    // The input opens first: a terminal may answer the first output that it reads.
    const socket = this.#line.open(writer);
    this.#writer = socket;
    socket.addEventListener('open', () => {
      if (this.#writer === socket) this.#read(reader, { hasInput: true });
    });
    socket.addEventListener('close', () => {
      if (this.#writer === socket && !this.#reader) this.#again('the channel for input did not open');
    });
  }

  #read(reader: ChannelEnd, { hasInput }: { hasInput: boolean }): void {
    const socket = this.#line.open(reader);
    this.#reader = socket;
    if (hasInput) this.#view.connect?.(this);
    this.#onState({ kind: 'live', hasInput });
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (this.#reader !== socket) return;
      if (typeof data === 'string') this.#take(JSON.parse(data) as Item);
      else this.#show('stdout', new Uint8Array(data));
    });
    socket.addEventListener('close', () => {
      if (this.#reader === socket) this.#again('the stream broke off');
    });
  }

  #take(item: Item): void {
    this.#next = item.at;
    if (item.t === 'err') this.#show('stderr', decoded(item.base64));
    if (item.t === 'lost') {
      this.#next = item.at + item.bytes;
      this.#view.lost(item.bytes);
    }
    if (item.t === 'exit') this.#end({ kind: 'ended', exit: { status: item.status, exit_code: item.exit_code } });
  }

  #show(stream: Stream, bytes: Uint8Array): void {
    this.#next += bytes.length;
    this.#behindBytes += bytes.length;
    this.#view.write(stream, bytes, () => {
      this.#behindBytes -= bytes.length;
      if (this.#isDetached && this.#behindBytes < CAUGHT_UP_BYTES) {
        this.#isDetached = false;
        if (!this.#isOver) void this.#attach();
      }
    });
    if (this.#behindBytes > BEHIND_BYTES) {
      this.#isDetached = true;
      this.#leave();
    }
  }

  #again(reason: string): void {
    this.#leave();
    this.#onState({ kind: 'broken', reason });
    this.#retry = setTimeout(() => void this.#attach(), RETRY_MS);
  }

  #end(state: FollowState): void {
    this.close();
    this.#onState(state);
  }

  #leave(): void {
    const sockets = [this.#reader, this.#writer];
    this.#reader = this.#writer = undefined;
    this.#view.connect?.(undefined);
    for (const socket of sockets) socket?.close();
  }
}

function decoded(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
