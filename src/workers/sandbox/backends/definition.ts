/**
 * What a backend tells of itself. Configuration, ladder, doctor, setup, packages and tests read it from here, so that a
 * backend is one folder and one line in list.ts: see CONTRIBUTING.md.
 */
import type { Log } from '#contract';
import type { ImageProgress } from '#sandbox/images';
import type { Probe, SandboxBackend } from './backend.ts';

export interface Need {
  /** Any of them will do; the package brings the first. */
  readonly programs: readonly string[];
  readonly package: string;
  /** Completes "… is needed for". */
  readonly for: string;
  /** The only processor that needs it; absent when every one does. */
  readonly arch?: string;
}

/** The part that is data: the backend.json in its folder. */
export interface BackendFacts {
  /** As the configuration names it. */
  readonly name: string;
  /** How many times longer than on the bare processor things take; tests wait so much longer. */
  readonly slowness: number;
  /** Beside what every backend needs. */
  readonly needs: readonly Need[];
}

export interface Opening {
  readonly cacheDir: string;
  readonly log: Log;
  /** Keeps machines of a backend ready, where starting one takes longer than handing one out. */
  readonly pooled: (backend: SandboxBackend) => SandboxBackend;
}

export interface BackendDef extends BackendFacts {
  /** One for each way to isolate that this system could have; opening starts nothing. */
  open(opening: Opening): SandboxBackend[];
  /** How much it is worth having on this host, against others; 0 for a backend that is only set up by name. */
  worth(): number;
  /** What the operator can do about a rung: one that fails with every program there, or works and is not good as it is. */
  advice?(rung: string, probe: Probe): Advice | undefined;
  /** What `workcell setup` brings beside packages. */
  readonly extra?: Extra;
}

export interface Advice {
  /** What is wrong with a rung that works. */
  readonly problem?: string;
  readonly fix: string;
}

export interface Extra {
  readonly what: string;
  /** Returns what to say once it is there. */
  bring(
    cacheDir: string,
    options: { signal: AbortSignal; onProgress: (progress: ImageProgress) => void },
  ): Promise<string>;
}
