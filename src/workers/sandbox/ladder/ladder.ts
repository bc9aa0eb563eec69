/**
 * The isolation rungs, strongest first, with the verdict on each.
 *
 * A rung counts as working only after a machine was started and answered. That can take seconds, so verdicts are
 * cached; a rung that worked and no longer does is logged as a warning, whatever replaces it.
 */
import { release } from 'node:os';

import type { Log } from '#contract';
import { SharedWork } from '#sandbox/images';
import type { Probe, SandboxBackend } from '../backends/backend.ts';
import type { Verdict, Verdicts } from './verdicts.ts';

/** How long a negative verdict is cached. */
const DAY_MS = 86_400_000;

/** A faster negative verdict is not cached: a missing program may have been installed. */
const SLOW_MS = 300;

export interface Answer {
  readonly probe: Probe;
  readonly tookMs: number;
  readonly askedAtMs: number;
  /** Whether the answer comes from the cache. */
  readonly isRemembered: boolean;
}

export interface Asking {
  readonly signal: AbortSignal;
  /** Ignores the cache. */
  readonly isFresh?: boolean;
}

export class Ladder {
  readonly rungs: readonly SandboxBackend[];
  readonly #verdicts: Verdicts;
  readonly #log: Log;
  readonly #asking = new SharedWork<Answer, never>();

  constructor(rungs: readonly SandboxBackend[], { verdicts, log }: { verdicts: Verdicts; log: Log }) {
    this.rungs = rungs;
    this.#verdicts = verdicts;
    this.#log = log;
  }

  /** Whether a rung works. Concurrent callers share one attempt. */
  async ask(backend: SandboxBackend, { signal, isFresh = false }: Asking): Promise<Answer> {
    const known = isFresh ? undefined : this.recall(backend);
    return known ?? this.#asking.do(backend.rung, { signal }, (all) => this.#try(backend, all));
  }

  /** The cached verdict, if it is still valid. */
  recall(backend: SandboxBackend): Answer | undefined {
    const known = this.#verdicts.recall(backend.rung);
    return known && isBelievable(known, backend) ? { ...known, isRemembered: true } : undefined;
  }

  /** Call it when a machine did not start: the next caller probes again. */
  doubt(backend: SandboxBackend): void {
    this.#verdicts.doubt(backend.rung);
  }

  /** Leftovers that cannot be removed take space, but do not prevent sandboxes. */
  async sweep(): Promise<void> {
    for (const backend of this.rungs) {
      await backend.sweep().catch((error: unknown) => {
        this.#log.warn('could not remove leftovers of an earlier process', { rung: backend.rung, why: String(error) });
      });
    }
  }

  async close(): Promise<void> {
    for (const backend of this.rungs) await backend.close();
  }

  async #try(backend: SandboxBackend, signal: AbortSignal): Promise<Answer> {
    const { rung } = backend;
    const before = this.#verdicts.recall(rung);
    const askedAtMs = Date.now();
    const startMs = performance.now();
    const probe = onOneLine(await backend.probe(signal));
    const tookMs = Math.round(performance.now() - startMs);
    // An aborted probe proves nothing about the rung.
    signal.throwIfAborted();

    const kept = { kernel: release(), fingerprint: backend.fingerprint(), askedAtMs, tookMs, isDoubted: false, probe };
    this.#verdicts.keep(rung, kept);
    if (before?.probe.ok && !probe.ok) {
      this.#log.warn('an isolation rung that worked no longer works', { rung, reason: probe.reason });
    }
    return { probe, tookMs, askedAtMs, isRemembered: false };
  }
}

/** On one line, because reasons are shown in messages and tables, and programs print several lines. */
function onOneLine(probe: Probe): Probe {
  return probe.ok ? probe : { ...probe, reason: probe.reason.trim().replaceAll(/\s+/g, ' ') };
}

function isBelievable({ kernel, fingerprint, askedAtMs, tookMs, isDoubted, probe }: Verdict, backend: SandboxBackend) {
  if (isDoubted || kernel !== release() || fingerprint !== backend.fingerprint()) return false;
  if (probe.ok) return true;
  const ageMs = Date.now() - askedAtMs;
  return tookMs >= SLOW_MS && ageMs >= 0 && ageMs < DAY_MS;
}
