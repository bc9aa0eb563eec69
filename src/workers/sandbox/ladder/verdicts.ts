/**
 * Verdicts on each rung, cached on the disk: a rung that fails slowly is not tried at every start.
 *
 * Several processes share the file. Each reads it anew and replaces it whole, so the last one wins; a lost verdict is
 * probed again. So is one from a file that cannot be read or written.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { z } from 'zod';

import { writeSharedFile } from '#sandbox/images';

const VerdictSchema = z.object({
  /** The release of the host's kernel. */
  kernel: z.string(),
  /** Fingerprint of the backend. */
  fingerprint: z.string(),
  askedAtMs: z.number(),
  tookMs: z.number(),
  /** The verdict was positive, and then a machine did not start. */
  isDoubted: z.boolean(),
  probe: z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), detail: z.string() }),
    z.object({ ok: z.literal(false), reason: z.string(), stderrTail: z.string() }),
  ]),
});
export type Verdict = z.output<typeof VerdictSchema>;

const FileSchema = z.record(z.string(), VerdictSchema);

export class Verdicts {
  readonly #file: string;

  constructor(cacheDir: string) {
    this.#file = join(cacheDir, 'verdicts.json');
  }

  recall(rung: string): Verdict | undefined {
    return this.#read()[rung];
  }

  keep(rung: string, verdict: Verdict): void {
    try {
      writeSharedFile(this.#file, `${JSON.stringify({ ...this.#read(), [rung]: verdict }, null, 2)}\n`);
    } catch (error) {
      if (!UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }

  doubt(rung: string): void {
    const verdict = this.recall(rung);
    if (verdict) this.keep(rung, { ...verdict, isDoubted: true });
  }

  #read(): Record<string, Verdict> {
    try {
      return FileSchema.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
    } catch {
      return {};
    }
  }
}

const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT']);
