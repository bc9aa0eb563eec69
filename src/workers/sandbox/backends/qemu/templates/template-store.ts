/**
 * The templates on the disk, one directory each, named after the hash of their inputs.
 *
 * An existing one is complete. The longest unused are removed when there are too many; machines made from them live on,
 * because the open files do.
 */
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

import { ifExists } from '#sandbox/images';
import { makeOnce, removeMade, type Waiter } from '../files/make-once.ts';
import { Template } from './template.ts';

const LIMITS = {
  maxTemplates: 16,
  maxBytes: 8 * 2 ** 30,
  /** How long a machine may take between finding a template and opening its files. */
  startingMs: 60_000,
};

type StoreLimits = Readonly<typeof LIMITS>;

export class TemplateStore {
  readonly #dir: string;
  readonly #limits: StoreLimits;

  constructor(cacheDir: string, limits: Partial<StoreLimits> = {}) {
    this.#dir = join(cacheDir, 'templates');
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Returns the template; makes it unless it exists. */
  async get(key: string, waiter: Waiter, make: (dir: string, signal: AbortSignal) => Promise<void>): Promise<Template> {
    const dir = await makeOnce(join(this.#dir, key), waiter, async (draft, { signal }) => {
      await make(draft, signal);
      this.#prune();
    });
    try {
      return this.use(Template.open(dir));
    } catch (error) {
      // Retries: another process pruned it since it was found.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync(dir)) return this.get(key, waiter, make);
      throw error;
    }
  }

  /** Whether it still exists for another machine. */
  has({ dir }: Template): boolean {
    return existsSync(dir);
  }

  /** Marks it as used now. */
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
      // The template that is being made counts too.
      const isTooMuch = index + 1 >= maxTemplates || keptBytes > maxBytes;
      if (isTooMuch && Date.now() - usedAtMs > startingMs) removeMade(dir);
    });
  }
}

interface Measured {
  readonly dir: string;
  /** Size on the disk: the memory file is sparse. */
  readonly bytes: number;
  readonly usedAtMs: number;
}

/** Undefined when another process removed it. */
function measure(dir: string): Measured | undefined {
  return ifExists(() => {
    const bytes = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).blocks * 512, 0);
    return { dir, bytes, usedAtMs: statSync(dir).mtimeMs };
  });
}
