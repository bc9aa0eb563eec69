/** Passes typed input to a job, key by key if it has a terminal, and detects the keys that detach. */
import { execFileSync } from 'node:child_process';

import type { ChannelWriter } from '#protocol';

const CTRL_P = 0x10;
const CTRL_Q = 0x11;

export function typeInto(
  writer: ChannelWriter,
  { isTerminal, leave }: { isTerminal: boolean; leave: () => void },
): Disposable {
  const { stdin, stdout } = process;
  const isRaw = isTerminal && stdin.isTTY;
  const keys = new DetachKeys();
  // The job has ended when it takes no more input, and its output ends too.
  const send = (item: Uint8Array | string) => void writer.write(item).catch(() => {});
  const resize = () => send(JSON.stringify({ resize: [stdout.columns, stdout.rows] }));
  const type = (bytes: Buffer) => {
    const { passed, isLeaving } = stdin.isTTY ? keys.take(bytes) : { passed: bytes, isLeaving: false };
    if (passed.length > 0) send(passed);
    if (isLeaving) leave();
  };
  const end = () => send('{"eof":true}');
  const settings = isRaw ? makeRaw() : undefined;
  if (isRaw) {
    if (stdout.isTTY) resize();
    stdout.on('resize', resize);
  }
  stdin.on('data', type).once('end', end);
  return {
    [Symbol.dispose]() {
      stdin.off('data', type).off('end', end);
      stdout.off('resize', resize);
      if (settings !== undefined) stty(settings);
      stdin.pause();
      stdin.unref?.();
      writer.abort();
    },
  };
}

/** Passes every byte on unchanged in both directions, which Node's raw mode does not. Returns the settings before. */
function makeRaw(): string {
  const settings = stty('-g').trim();
  stty('raw', '-echo');
  return settings;
}

function stty(...words: string[]): string {
  return execFileSync('stty', words, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' });
}

/** Holds a Ctrl-P back until the key after it is known. */
export class DetachKeys {
  #isAfterCtrlP = false;

  take(bytes: Uint8Array): { passed: Buffer; isLeaving: boolean } {
    const passed: number[] = [];
    for (const byte of bytes) {
      if (this.#isAfterCtrlP && byte === CTRL_Q) return { passed: Buffer.from(passed), isLeaving: true };
      if (this.#isAfterCtrlP) passed.push(CTRL_P);
      this.#isAfterCtrlP = byte === CTRL_P;
      if (!this.#isAfterCtrlP) passed.push(byte);
    }
    return { passed: Buffer.from(passed), isLeaving: false };
  }
}
