/**
 * Worker thread that runs regexes.
 *
 * Compiling, searching and replacing can each take seconds with a bad pattern. Here that blocks no other work, and the
 * main thread can terminate it.
 */
import { parentPort } from 'node:worker_threads';

import { compileRegex } from './compile-regex.ts';
import { RegexError, ReplacedSizeError, ReplacementError } from './regex-error.ts';
import type { Regex } from './regex.ts';
import { replaceInLines } from './replace-lines.ts';
import { replacedSpans } from './replaced-spans.ts';
import { parseReplacement } from './replacement.ts';
import type { FromThread, ReplaceTask, ToThread } from './thread-messages.ts';

const port = parentPort!;

/** Lines grow separately, so the memory limit of one search does not bound their sum. */
const MAX_LINES_BYTES = 64 * 2 ** 20;

port.on('message', (task: ToThread) => {
  const answer = work(task);
  port.postMessage(answer, answer.kind === 'replaced' ? movable(answer.bytes) : []);
});

function work(task: ToThread): FromThread {
  try {
    const regex = compileRegex(task.pattern, task);
    if (task.kind === 'find') return { kind: 'found', match: regex.find(task.text) };
    if (task.kind === 'lines') return { kind: 'lines', lines: regex.findLines(task.text, task) };
    return replace(regex, task);
  } catch (error) {
    if (error instanceof RegexError) return { kind: 'bad-regex', pattern: error.pattern, reason: error.reason };
    if (error instanceof ReplacementError) {
      return { kind: 'bad-replacement', reference: error.reference, pattern: error.pattern, hint: error.hint };
    }
    if (error instanceof ReplacedSizeError) return { kind: 'too-large', maxBytes: error.maxBytes };
    return { kind: 'broken', stack: error instanceof Error ? error.stack! : String(error) };
  }
}

function replace(regex: Regex, task: ReplaceTask): FromThread {
  const { unit = 'text', limit = Infinity, maxSpans = 0 } = task;
  const text = Buffer.from(task.text.buffer, task.text.byteOffset, task.text.length);
  const replacement = parseReplacement(task.replacement, regex);
  const { bytes, count } =
    unit === 'line'
      ? replaceInLines(regex, text, replacement, { limit, maxBytes: task.maxBytes ?? MAX_LINES_BYTES })
      : regex.replaceAll(text, replacement, { limit, maxBytes: task.maxBytes });
  if (count === 0) return { kind: 'replaced', bytes: undefined, count, spans: [] };

  const isTraced = maxSpans > 0 && unit === 'text';
  const spans = isTraced ? replacedSpans(regex, text, task.replacement, Math.min(limit, maxSpans)) : [];
  return { kind: 'replaced', bytes, count, spans };
}

/** Buffers that can be transferred to another thread; short ones share their memory with others, so they are copied. */
function movable(bytes: Uint8Array | undefined): ArrayBuffer[] {
  return bytes && bytes.buffer.byteLength > Buffer.poolSize ? [bytes.buffer as ArrayBuffer] : [];
}
