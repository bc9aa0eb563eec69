/** Output of a command that comes through a channel, printed as it comes. */
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';

import type { ChannelReader } from '#protocol';
import { printText } from './print.ts';

/** A text item of the channel. */
export interface ControlItem {
  t?: string;
  base64?: string;
  bytes?: number;
  status?: string;
  exit_code?: number | null;
  code?: string;
  message?: string;
}

export interface LiveStreams {
  readonly stdout: (bytes: Uint8Array) => Promise<void>;
  readonly stderr: (bytes: Uint8Array) => Promise<void>;
}

/** Prints to the streams of this process. A terminal must not obey control codes of a command, unless it is its own. */
export function printing({ isRaw = false } = {}): LiveStreams {
  const printTo = (stream: NodeJS.WriteStream) => {
    const decoder = new StringDecoder();
    return async (bytes: Uint8Array) => {
      if (stream.isTTY && !isRaw) printText(decoder.write(bytes), stream);
      else stream.write(bytes);
      // A slow reader slows the command down; one that closed its end does not.
      if (stream.writableNeedDrain && !stream.errored)
        await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
    };
  };
  return { stdout: printTo(process.stdout), stderr: printTo(process.stderr) };
}

/** Reads the channel to its end; the last item that reports one is the exit of a job. */
export async function printItems(
  items: ChannelReader,
  { stdout, stderr }: LiveStreams,
): Promise<ControlItem | undefined> {
  for await (const item of items) {
    if (typeof item !== 'string') {
      await stdout(item);
      continue;
    }
    const control = JSON.parse(item) as ControlItem;
    if (control.t === 'err') await stderr(Buffer.from(control.base64 ?? '', 'base64'));
    if (control.t === 'lost')
      process.stderr.write(`workcell: ${control.bytes} bytes of output were dropped before they were read\n`);
    if (control.t === 'error') process.stderr.write(`workcell: ${control.code}: ${control.message}\n`);
    if (control.t === 'exit') return control;
  }
  return undefined;
}
