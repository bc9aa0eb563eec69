/**
 * The sandbox worker for the cases of its specification: one backend, real images, one cache for all test files.
 *
 * The same files run once per backend, in a project of that name. tests/build-images.ts builds the images; a file that
 * needs one waits for it. If that fails, the tests are skipped with the reason and the run fails.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { CallError, silentLog, type CallOptions } from '#contract';
import { BACKENDS, sandbox } from '#workers/sandbox';
import { serveWorker, type ServedWorker } from './serve-worker.ts';

/** Backend of this run; vitest.config.ts has a project per backend. */
const { WORKCELL_TEST_BACKEND: asked } = process.env;
const backend = BACKENDS.find(({ name, isTestDefault }) => (asked === undefined ? isTestDefault : name === asked))!;
export const TEST_BACKEND = backend.name;
export const SLOWNESS = backend.slowness;
/** Isolations that replies may report. */
export const TEST_ISOLATIONS = backend
  .open({ cacheDir: '', log: silentLog, pooled: (backend) => backend })
  .map(({ isolation }) => isolation);

/** Kept after the run, like the packages beside it, until the code that makes the images changes. */
const CACHE_DIR = fileURLToPath(new URL(`../../node_modules/.cache/workcell-sandbox-${makersHash()}`, import.meta.url));

function makersHash(): string {
  const folders = ['images/presets', 'archives'].map((name) => new URL(`../sandbox/${name}/`, import.meta.url));
  const hash = createHash('sha256');
  for (const folder of folders) {
    const names = readdirSync(folder).filter((name) => !name.endsWith('.test.ts'));
    for (const name of names.toSorted()) hash.update(readFileSync(new URL(name, folder)));
  }
  return hash.digest('hex').slice(0, 12);
}

/** Long enough to build an image on a busy machine. */
export const IMAGE_PATIENCE_MS = 600_000;

/** Timeout of one case. */
export const CASE_PATIENCE_MS = 60_000 * SLOWNESS;

export function sandboxConfig(more: Record<string, unknown> = {}): Record<string, unknown> {
  // No pool: a pooled machine has another id than its sandbox, and some cases find the machine by that id.
  return {
    image_allowlist: ['python', 'node'],
    prepare_images: false,
    backend: TEST_BACKEND,
    cache_dir: CACHE_DIR,
    min_idle: 0,
    ...more,
  };
}

/** Why these images give no sandbox here; undefined if they do. */
export async function whyNoSandbox(
  images: readonly string[],
  more: Record<string, unknown> = {},
): Promise<string | undefined> {
  const context = await sandbox.open(sandbox.config.parse(sandboxConfig(more)), silentLog);
  const { signal } = new AbortController();
  try {
    await context.backends.choose(signal);
    for (const image of images) await context.images.prepare(image, { signal });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await sandbox.close(context);
  }
}

export interface SandboxCases extends ServedWorker {
  /** Creates a sandbox, of the python image by default, which ends with the worker. */
  create(request?: Record<string, unknown>): Promise<string>;
  /** The error of a failed call. */
  failure(
    functionId: string,
    payload: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<Record<string, unknown>>;
}

export async function serveSandboxes(more: Record<string, unknown> = {}): Promise<SandboxCases> {
  const served = await serveWorker(sandbox, sandboxConfig(more));
  return {
    ...served,
    async create(request = {}) {
      const reply = await served.call<{ sandbox_id: string }>('sandbox::create', { image: 'python', ...request });
      return reply.sandbox_id;
    },
    async failure(functionId, payload, options) {
      try {
        return { noFailure: await served.call(functionId, payload, options) };
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        const { code, message, extra } = error;
        return { code, message, ...extra };
      }
    },
  };
}
