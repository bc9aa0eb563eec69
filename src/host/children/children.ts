/**
 * Owns every child process: nothing that a job started outlives the job, nor the server.
 *
 * The mechanism differs by system; docs/decisions/2026-11-15-what-holds-a-job-together.md has the reasons.
 */
import { silentLog, type Log } from '#contract';
import { Execution } from '../process/execution.ts';
import type { ChildSpec } from './child.ts';
import { Job } from './job.ts';
import { startLaunched } from './containments/launcher-containment.ts';
import { openContainment } from './containments/open-containment.ts';
import type { Command, Containment, ContainmentMethod } from './containments/containment.ts';
import { checkCommand } from './spawn-error.ts';
import { openTerminal, type OpenTerminal } from '../terminal/open-terminal.ts';
import { findProgram } from './find-program.ts';

export interface ChildrenOptions {
  containment?: Containment;
  log?: Log;
  /** Opens terminals; the best method that works here when absent. */
  terminals?: OpenTerminal;
}

export class Children {
  readonly #containment: ContainmentMethod;
  readonly #log: Log;
  readonly #openTerminal: OpenTerminal;
  readonly #starts = new Set<Promise<unknown>>();
  readonly #jobs = new Set<Job>();
  #isClosed = false;

  private constructor(containment: ContainmentMethod, { log = silentLog, terminals = openTerminal }: ChildrenOptions) {
    this.#containment = containment;
    this.#log = log;
    this.#openTerminal = terminals;
  }

  /** Uses the strongest containment that works here, or the one named; throws if the named one does not work. */
  static async open(options: ChildrenOptions = {}) {
    return new Children(await openContainment({ name: options.containment, log: options.log ?? silentLog }), options);
  }

  get containment(): Containment {
    return this.#containment.name;
  }

  /** Rejects with a `SpawnError`. */
  async start(spec: ChildSpec): Promise<Execution<Job>> {
    if (this.#isClosed) throw new Error('no child is started after close');
    checkCommand(spec);
    const start = this.#start(spec);
    this.#starts.add(start);
    try {
      return new Execution(await start, spec);
    } finally {
      this.#starts.delete(start);
    }
  }

  /** Kills every job and waits until nothing is left. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.allSettled(this.#starts);
    await Promise.all([...this.#jobs].map((job) => job.signal().then(() => job.done)));
    await this.#containment.close();
  }

  async #start(spec: ChildSpec): Promise<Job> {
    const { argv, env, cwd = process.cwd(), launch } = spec;
    const startedAt = performance.now();
    // Checks the program first: the helper that starts it in a terminal could only report that it failed.
    if (spec.terminal && !launch) findProgram({ argv, env, cwd });
    const terminal = spec.terminal && this.#openTerminal(spec.terminal);
    const hasInput = terminal !== undefined || spec.stdin !== undefined || spec.keepsInput === true;
    const stdin = hasInput ? ('pipe' as const) : ('ignore' as const);
    const asked = { argv: terminal?.wrap(argv) ?? argv, env, cwd };
    const terminalPath = terminal?.path;
    const isContained = this.#containment.name === 'cgroup2' || this.#containment.name === 'cgroup1';
    const command = launch ? launch({ ...asked, terminalPath, isContained }) : asked;
    const start = launch && !isContained ? startLaunched : (it: Command) => this.#containment.start(it);
    const contained = await start({ ...command, stdin, terminalPath }).catch((error: unknown) => {
      terminal?.close();
      throw error;
    });
    const hasReader = spec.ring !== undefined || spec.onPiece !== undefined;
    const wantedBytes = hasReader ? Infinity : spec.maxOutputBytes;
    const connected = terminal?.connect(contained.process);
    const job = new Job(contained, { terminal: connected, wantedBytes, startedAt, log: this.#log });
    this.#jobs.add(job);
    void job.done.then(() => this.#jobs.delete(job));
    return job;
  }
}
