/**
 * What every backend has to show, as a suite: commands, files, isolation, the end of a machine, limits.
 *
 * A backend's own test calls it with a backend and a shape whose image has a POSIX shell and its tools.
 */
import { describe } from 'vitest';

import type { SandboxBackend, Shape } from './backend.ts';
import { commandContract } from './commands.contract.ts';
import { fileContract } from './files.contract.ts';
import { isolationContract } from './isolation.contract.ts';
import { limitContract } from './limits.contract.ts';
import { treeContract } from './trees.contract.ts';
import { tunnelContract } from './tunnel.contract.ts';

/** What a backend cannot do, and says so in its documentation. */
export type Trait =
  /** A guest with a kernel of its own ends processes that take too much by itself, and nobody outside counts them. */
  | 'oom-kills-uncounted'
  /** What is counted are tasks of the host: several for each process of the guest, and those of its kernel. */
  | 'pids-of-the-host';

export interface Subject {
  readonly backend: SandboxBackend;
  readonly shape: Shape;
  readonly traits?: readonly Trait[];
  /** How much longer than on a processor everything takes; 1 when left out. */
  readonly slowness?: number;
}

/** `subject` is asked inside the tests: what it needs may be made by a hook. */
export function backendContract(name: string, subject: () => Subject): void {
  describe(`${name}: commands`, () => {
    commandContract(subject);
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
