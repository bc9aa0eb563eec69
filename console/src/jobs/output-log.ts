/**
 * Output as text in a scrolling element: both streams in the order they came, standard error marked.
 *
 * Text is added a frame at a time and never rendered again. The oldest is removed, so that a job that prints for days
 * costs the page a bounded amount of memory.
 */
import type { OutputView, Stream } from './job-follower.ts';

const MAX_LETTERS = 2_000_000;
/** Within this distance of the end of the output, the view follows it. */
const FOLLOWED_PX = 40;

interface Waiting {
  stream: Stream | 'lost';
  text: string;
  done?: () => void;
}

export class OutputLog implements OutputView {
  readonly #box: HTMLElement;
  /** Characters may be cut by the end of a piece, in each stream. */
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #waiting: Waiting[] = [];
  #letters = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(box: HTMLElement) {
    this.#box = box;
  }

  begin(): void {}

  write(stream: Stream, bytes: Uint8Array, done: () => void): void {
    this.#add({ stream, text: this.#decoders[stream].decode(bytes, { stream: true }), done });
  }

  lost(count: number): void {
    this.#add({ stream: 'lost', text: `\n… ${count.toLocaleString('en')} bytes were lost here …\n` });
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #add(piece: Waiting): void {
    this.#waiting.push(piece);
    // A timer, not an animation frame: a hidden page has no frames and would fall behind.
    this.#timer ??= setTimeout(() => this.#paint());
  }

  #paint(): void {
    this.#timer = undefined;
    const pieces = this.#waiting;
    this.#waiting = [];
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    const isFollowed = scrollHeight - scrollTop - clientHeight < FOLLOWED_PX;
    for (const { stream, text } of joined(pieces)) {
      const span = document.createElement('span');
      span.dataset.stream = stream;
      span.textContent = text;
      this.#box.append(span);
      this.#letters += text.length;
    }
    this.#trim();
    if (isFollowed) this.#box.scrollTop = this.#box.scrollHeight;
    for (const { done } of pieces) done?.();
  }

  #trim(): void {
    for (let first = this.#box.firstChild; this.#letters > MAX_LETTERS && first; first = this.#box.firstChild) {
      const over = this.#letters - MAX_LETTERS;
      const text = first.textContent ?? '';
      if (text.length > over) first.textContent = text.slice(over);
      else first.remove();
      this.#letters -= Math.min(over, text.length);
      this.#box.dataset.cut = '';
    }
  }
}

/** Pieces of the same stream in a row as one. */
function joined(pieces: Waiting[]): { stream: string; text: string }[] {
  const runs: { stream: string; texts: string[] }[] = [];
  for (const { stream, text } of pieces) {
    if (runs.at(-1)?.stream === stream) runs.at(-1)!.texts.push(text);
    else if (text !== '') runs.push({ stream, texts: [text] });
  }
  return runs.map(({ stream, texts }) => ({ stream, text: texts.join('') }));
}
