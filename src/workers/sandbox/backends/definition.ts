/**
 * The declaration of a backend. Configuration, `ladder/`, doctor, setup, packages and tests read it, so that a backend is
 * one folder and one line in list.ts: see CONTRIBUTING.md.
 */
import type { Log } from '#contract';
import type { ImageProgress } from '#sandbox/images';
import type { Probe, SandboxBackend } from './backend.ts';

export interface Need {
  /** Alternatives; the package contains the first. */
  readonly programs: readonly string[];
  readonly package: string;
  /** The purpose, as the end of "… is needed for". */
  readonly for: string;
  /** The only processor that needs it; absent when all do. */
  readonly arch?: string;
}

/** The part that is data: the backend.json in its folder. */
export interface BackendFacts {
  /** Name in the configuration. */
  readonly name: string;
  /** Factor by which it is slower than bare hardware; tests wait that much longer. */
  readonly slowness: number;
  /** Programs needed in addition to those of every backend. */
  readonly needs: readonly Need[];
  /** Whether `npm start` installs its packages: only for a real isolation that is small and works on every host. */
  readonly isBroughtAtStart?: boolean;
  /** Whether tests run on it that do not ask for another; the cases of sandboxes run on all others too. */
  readonly isTestDefault?: boolean;
  /** Whether the tests of limits and of files in guests run on it too. */
  readonly isTestedMore?: boolean;
}

export interface Opening {
  readonly cacheDir: string;
  readonly log: Log;
  /** Wraps a backend with a pool, where starting a machine takes longer than handing one out. */
  readonly pooled: (backend: SandboxBackend) => SandboxBackend;
}

export interface BackendDef extends BackendFacts {
  /** One per rung that this system could have; opening starts nothing. */
  open(opening: Opening): SandboxBackend[];
  /** Rank on this host; 0 for a backend that is only set up by name. */
  worth(): number;
  /** Advice for a rung that fails although all programs are installed, or that works badly. */
  advice?(rung: string, probe: Probe): Advice | undefined;
  /** Installation step of `workcell setup` beside packages. */
  readonly extra?: Extra;
}

export interface Advice {
  /** Problem of a rung that works. */
  readonly problem?: string;
  readonly fix: string;
}

export interface Extra {
  readonly what: string;
  /** Installs it; returns a message about the result. */
  bring(
    cacheDir: string,
    options: { signal: AbortSignal; onProgress: (progress: ImageProgress) => void },
  ): Promise<string>;
}
