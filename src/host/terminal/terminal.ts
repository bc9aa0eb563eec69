/** The terminal of a job: programs write its output, and input that is written to it counts as typed. */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

import type { Process, ProcessInput } from '../process/process.ts';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Terminal {
  /** Opened by the first process of the job; absent when a program of its argv makes the terminal. */
  readonly path?: string;
  /** The words that start a command in it. */
  wrap(argv: readonly string[]): readonly string[];
  /** Its streams, once the process has started. */
  connect(process: ChildProcess): ConnectedTerminal;
  /** Closes it for a job that did not start. */
  close(): void;
}

export interface ConnectedTerminal {
  readonly output: Readable;
  readonly input: ProcessInput;
  resize(size: TerminalSize): void;
  /** Absent where the group of the first process is the right receiver. */
  readonly sendSignal?: Process['sendSignal'];
}

/** Thrown if this host has no method to open a terminal. */
export class NoTerminalError extends Error {
  override readonly name = 'NoTerminalError';

  constructor() {
    super(
      'this host cannot make terminals: install the optional package koffi (Linux on x64 or arm64), ' +
        'or the program script of util-linux 2.35 or newer',
    );
  }
}
