/**
 * A compiled pattern that outlives its wasm instances.
 *
 * WebAssembly memory never shrinks and the crate's allocator leaks some of it, so an instance that has grown is dropped
 * and the next search compiles the pattern again. Of the instances that have grown a little, the one used last is kept:
 * large files tend to be searched with one pattern.
 */
import type { Hir } from 'rregex';

import { Instance } from './instance.ts';
import { RegexError } from './regex-error.ts';
import { MAX_MEMORY_BYTES, WebAssembly } from './wasm-module.ts';

/** How much every instance may grow, over its size when compiled. */
const MAX_GROWTH_BYTES = 4 * 2 ** 20;

/** How much the spared instance may grow. */
const MAX_SPARED_GROWTH_BYTES = 64 * 2 ** 20;

export class Engine {
  /** Last used instance that has grown. */
  static #spared: Engine | undefined;

  /** Memory taken by the compiled pattern. */
  readonly compiledBytes: number;
  readonly #pattern: string;
  readonly #source: string;
  #instance: Instance | undefined;

  /** The pattern, and the pattern as the user wrote it. Throws `RustError` when it does not compile. */
  constructor(pattern: string, source: string) {
    this.#pattern = pattern;
    this.#source = source;
    this.#instance = this.#guard(() => new Instance(pattern));
    this.compiledBytes = this.#instance.memoryBytes;
  }

  get groupNames(): (string | undefined)[] {
    return this.#run((instance) => instance.groupNames);
  }

  get syntax(): Hir {
    return this.#run((instance) => instance.syntax);
  }

  isMatch(haystack: Uint8Array): boolean {
    return this.#run((instance) => instance.isMatch(haystack));
  }

  /** Start and end of the first match at or after `from`; empty if there is none. */
  findAt(haystack: Uint8Array, from: number): number[] {
    return this.#run((instance) => instance.findAt(haystack, from));
  }

  /** Start and end of every match; `edit` may change the copy that is searched. */
  findAll(haystack: Uint8Array, edit?: (copy: Buffer) => void): number[] {
    return this.#run((instance) => instance.findAll(haystack, edit));
  }

  /** Replaces the first `limit` matches, or all for 0; `read` gets the result, which is valid only during the call. */
  replace<T>(haystack: Uint8Array, template: Uint8Array, limit: number, read: (result: Buffer) => T): T {
    return this.#run((instance) => instance.replace(haystack, template, limit, read));
  }

  #run<T>(work: (instance: Instance) => T): T {
    return this.#guard(() => {
      const instance = (this.#instance ??= new Instance(this.#pattern));
      const result = work(instance);
      this.#checkGrowth(instance.memoryBytes - this.compiledBytes);
      return result;
    });
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#instance = undefined;
      throw error instanceof WebAssembly.RuntimeError ? new RegexError(this.#source, TRAPPED) : error;
    }
  }

  #checkGrowth(growth: number): void {
    if (growth <= MAX_GROWTH_BYTES) return;
    if (growth > MAX_SPARED_GROWTH_BYTES) {
      this.#instance = undefined;
    } else if (Engine.#spared !== this) {
      if (Engine.#spared) Engine.#spared.#instance = undefined;
      Engine.#spared = this;
    }
  }
}

/** The likely reason of a wasm trap. */
const TRAPPED = `needs more than ${MAX_MEMORY_BYTES / 2 ** 30} GiB of memory for this text, or the text is not UTF-8`;
