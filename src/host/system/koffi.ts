/**
 * The optional package that calls functions of the C library, where it is safe to use.
 *
 * It needs the main thread: it crashes the process when a worker thread is terminated while loading it.
 */
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/** The part of the package that is used here. */
export interface Koffi {
  load(library: null): { func(prototype: string): (...values: unknown[]) => number };
  errno(): number;
}

/** Undefined when it is not installed, or its binary is not for this system. */
export function loadKoffi(): Koffi | undefined {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch) || !isMainThread) return undefined;
  try {
    return createRequire(import.meta.url)('koffi') as Koffi;
  } catch {
    return undefined;
  }
}
