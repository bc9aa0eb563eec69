/**
 * The terminal of a job: xterm.js as a view of its output.
 *
 * Output of a program may query the terminal, such as for the cursor position, and xterm.js types the answers.
 * Queries that were printed before the page attached were for another terminal, so they get no second answer.
 */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';

import type { JobInput, OutputView, Stream } from '../jobs/job-follower.ts';
import { allowStyledSpans, withAdoptedStyles } from './inline-styles.ts';
import { LEAST_CONTRAST, PALETTES } from './palettes.ts';

const SCROLLBACK_LINES = 10_000;

export interface ScreenOptions {
  /** How much of the output this tab has shown before; undefined if it did not show the job yet. */
  answeredTo: number | undefined;
  /** Called when keys were sent or dropped. */
  onRefused: (isRefused: boolean) => void;
}

allowStyledSpans();

export class JobScreen implements OutputView {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #answeredTo: number | undefined;
  readonly #sizes: ResizeObserver;
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  #offset = 0;
  #historyEnd = 0;
  #isHistory = true;
  #input: JobInput | undefined;

  constructor(box: HTMLElement, { answeredTo, onRefused }: ScreenOptions) {
    this.#answeredTo = answeredTo;
    const terminal = new Terminal({
      theme: PALETTES[this.#isDark() ? 'dark' : 'light'],
      minimumContrastRatio: LEAST_CONTRAST,
      scrollback: SCROLLBACK_LINES,
      fontFamily: getComputedStyle(box).getPropertyValue('--mono'),
      fontSize: 13,
      cursorBlink: false,
      disableStdin: true,
      cursorInactiveStyle: 'none',
    });
    this.#terminal = terminal;
    terminal.loadAddon(this.#fit);
    withAdoptedStyles(() => terminal.open(box));
    this.#fit.fit();
    const send = (bytes: Uint8Array<ArrayBuffer>) => {
      if (!this.#isHistory) onRefused(this.#input?.send(bytes) === false);
    };
    terminal.onData((text) => send(new TextEncoder().encode(text)));
    terminal.onBinary((text) => send(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    terminal.onResize(({ cols, rows }) => this.#input?.resize(cols, rows));
    // For the page: it moves the focus out, where Escape alone is for the program.
    terminal.attachCustomKeyEventHandler(({ key, shiftKey }) => !(key === 'Escape' && shiftKey));
    this.#sizes = new ResizeObserver(() => this.#fit.fit());
    this.#sizes.observe(box);
    this.#scheme.addEventListener('change', this.paint);
  }

  begin(historyEnd: number): void {
    this.#historyEnd = Math.min(historyEnd, this.#answeredTo ?? historyEnd);
    this.#reach();
  }

  write(_stream: Stream, bytes: Uint8Array, done: () => void): void {
    const before = Math.max(0, Math.min(bytes.length, this.#historyEnd - this.#offset));
    this.#offset += bytes.length;
    const isLast = this.#offset >= this.#historyEnd;
    if (before > 0) this.#terminal.write(bytes.subarray(0, before), () => isLast && this.#reach());
    this.#terminal.write(bytes.subarray(before), done);
  }

  lost(count: number): void {
    this.#offset += count;
    this.#reach();
  }

  /** From here on keys and answers are sent to the program; without an input they are dropped. */
  connect(input: JobInput | undefined): void {
    this.#input = input;
    this.#terminal.options.disableStdin = !input;
    this.#terminal.options.cursorInactiveStyle = input ? 'outline' : 'none';
    input?.resize(this.#terminal.cols, this.#terminal.rows);
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Applies the current colours of the page. */
  readonly paint = (): void => {
    this.#terminal.options.theme = PALETTES[this.#isDark() ? 'dark' : 'light'];
  };

  close(): void {
    this.#sizes.disconnect();
    this.#scheme.removeEventListener('change', this.paint);
    this.#terminal.dispose();
  }

  #reach(): void {
    if (this.#offset >= this.#historyEnd) this.#isHistory = false;
  }

  #isDark(): boolean {
    const { theme } = document.documentElement.dataset;
    return theme === 'dark' || (theme !== 'light' && this.#scheme.matches);
  }
}
