/**
 * Contract tests for every backend: commands, files, isolation, the end of a machine, limits.
 *
 * A backend's own test calls it with a backend and a shape whose image has a POSIX shell and its tools.
 */
import { describe } from 'vitest';

import type { SandboxBackend, Shape } from './backend.ts';
import { commandContract } from './commands.contract.ts';
import { fileContract } from './files.contract.ts';
import { isolationContract } from './isolation.contract.ts';
import { limitContract } from './limits.contract.ts';
import { terminalContract } from './terminals.contract.ts';
import { treeContract } from './trees.contract.ts';
import { tunnelContract } from './tunnel.contract.ts';

/** Documented limitations of a backend. */
export type Trait =
  /** A guest with a kernel of its own ends processes that take too much by itself, and the host cannot count them. */
  | 'oom-kills-uncounted'
  /** Tasks of the host are counted: several per process of the guest, and those of its kernel. */
  | 'pids-of-the-host'
  /** Its kernel has no /dev/tty, and no key to end the input of a program that reads lines. */
  | 'plain-terminals';

export interface Subject {
  readonly backend: SandboxBackend;
  readonly shape: Shape;
  readonly traits?: readonly Trait[];
  /** Memory of a machine that a command overflows; 48 when absent. */
  readonly lowMemoryMb?: number;
  /** Factor by which everything is slower than on bare hardware; 1 when absent. */
  readonly slowness?: number;
}

/** `subject` is called inside the tests: a hook may make what it needs. */
export function backendContract(name: string, subject: () => Subject): void {
  describe(`${name}: commands`, () => {
    commandContract(subject);
  });
  describe(`${name}: terminals`, () => {
    terminalContract(subject);
  });
  describe(`${name}: files`, () => {
    fileContract(subject);
  });
  describe(`${name}: directories`, () => {
    treeContract(subject);
  });
  describe(`${name}: isolation`, () => {
    isolationContract(subject);
  });
  describe(`${name}: limits`, () => {
    limitContract(subject);
  });
  describe(`${name}: connections`, () => {
    tunnelContract(subject);
  });
}
