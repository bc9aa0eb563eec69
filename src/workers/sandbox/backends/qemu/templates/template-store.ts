/**
 * The templates on the disk, one directory each, named after what they were made of.
 *
 * One that is there is complete. Those unused longest are removed when there are too many; machines made from them live on,
 * because the files do until the last of them ends.
 */
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

import { makeOnce, removeMade, type Waiter } from '../files/make-once.ts';
import { Template } from './template.ts';

const MAX_TEMPLATES = 16;
const MAX_BYTES = 8 * 2 ** 30;

/** Between finding a template and having its files open, a machine has this long. */
const STARTING_MS = 60_000;

export interface StoreLimits {
  readonly maxTemplates: number;
  readonly maxBytes: number;
  readonly startingMs: number;
}

const LIMITS: StoreLimits = { maxTemplates: MAX_TEMPLATES, maxBytes: MAX_BYTES, startingMs: STARTING_MS };

export class TemplateStore {
  readonly #dir: string;
  readonly #limits: StoreLimits;

  constructor(cacheDir: string, limits: Partial<StoreLimits> = {}) {
    this.#dir = join(cacheDir, 'templates');
    this.#limits = { ...LIMITS, ...limits };
  }

  /** The template, which is made unless it is there. */
  async get(key: string, waiter: Waiter, make: (dir: string, signal: AbortSignal) => Promise<void>): Promise<Template> {
    const dir = await makeOnce(join(this.#dir, key), waiter, async (draft, { signal }) => {
      await make(draft, signal);
      this.#prune();
    });
    try {
      return this.use(Template.open(dir));
    } catch (error) {
      // Another process removed it to make room, in the moment since it was found.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync(dir)) return this.get(key, waiter, make);
      throw error;
    }
  }

  /** Whether it is still there for another machine. */
  has({ dir }: Template): boolean {
    return existsSync(dir);
  }

  /** Remembers that it was wanted now. */
  use(template: Template): Template {
    const now = new Date();
    utimesSync(template.dir, now, now);
    return template;
  }

  #prune(): void {
    const { maxTemplates, maxBytes, startingMs } = this.#limits;
    const templates = readdirSync(this.#dir)
      .filter((name) => !name.startsWith('.'))
      .map((name) => join(this.#dir, name))
      .flatMap((dir) => measure(dir) ?? [])
      .toSorted((a, b) => b.usedAtMs - a.usedAtMs);
    let keptBytes = 0;
    templates.forEach(({ dir, bytes, usedAtMs }, index) => {
      keptBytes += bytes;
      // The one that is being made takes a place too.
      const isTooMuch = index + 1 >= maxTemplates || keptBytes > maxBytes;
      if (isTooMuch && Date.now() - usedAtMs > startingMs) removeMade(dir);
    });
  }
}

interface Measured {
  readonly dir: string;
  /** On the disk: the file of a memory has holes. */
  readonly bytes: number;
  readonly usedAtMs: number;
}

/** Undefined when another process removed it. */
function measure(dir: string): Measured | undefined {
  try {
    const bytes = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).blocks * 512, 0);
    return { dir, bytes, usedAtMs: statSync(dir).mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
