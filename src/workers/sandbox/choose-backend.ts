/**
 * Chooses the backend of the sandboxes: the one that the operator named, or the strongest that works here.
 *
 * Namespaces share the host's kernel, so they are used only by name or with `allow_weak_isolation`. If none may be
 * used, the failure lists the reason of every rung, and advice.
 */
import type { Log } from '#contract';
import type { SandboxBackend } from './backends/backend.ts';
import type { SandboxConfig } from './config.ts';
import { errors } from './errors.ts';
import type { Ladder } from './ladder/ladder.ts';
import { worthSettingUp } from './ladder/setup-advice.ts';

export interface ChosenBackend {
  readonly backend: SandboxBackend;
  /** Call it when a machine did not start: the cached verdict may be outdated. */
  doubt(): void;
}

export class BackendChoice {
  readonly #ladder: Ladder;
  readonly #candidates: readonly SandboxBackend[];
  readonly #config: SandboxConfig;
  readonly #log: Log;
  #chosen: ChosenBackend | undefined;

  constructor(ladder: Ladder, config: SandboxConfig, log: Log) {
    const { backend: wanted } = config;
    this.#ladder = ladder;
    this.#config = config;
    this.#log = log;
    this.#candidates = wanted === 'auto' ? ladder.rungs : ladder.rungs.filter(({ name }) => name === wanted);
  }

  /** Undefined until a sandbox needed one. */
  get chosen(): SandboxBackend | undefined {
    return this.#chosen?.backend;
  }

  async choose(signal: AbortSignal): Promise<ChosenBackend> {
    this.#chosen ??= await this.#find(signal);
    return this.#chosen;
  }

  async close(): Promise<void> {
    await this.#ladder.close();
  }

  async #find(signal: AbortSignal): Promise<ChosenBackend> {
    const passed: string[] = [];
    for (const backend of this.#candidates) {
      const { probe } = await this.#ladder.ask(backend, { signal });
      if (probe.ok && this.#accepts(backend)) {
        this.#log.info('sandboxes are isolated', { by: backend.rung, isolation: backend.isolation, passed });
        return { backend, doubt: () => this.#doubt(backend) };
      }
      passed.push(`${backend.rung}: ${probe.ok ? WEAK : probe.reason}`);
    }
    const lacking = worthSettingUp(this.#candidates.map(({ name }) => name));
    const advice = lacking === undefined ? [] : [`to get one: workcell setup ${lacking}`];
    throw errors.fail('S300', { problem: [...passed, ...advice].join('; ') });
  }

  #doubt(backend: SandboxBackend): void {
    this.#ladder.doubt(backend);
    this.#chosen = undefined;
  }

  #accepts({ isolation, name }: SandboxBackend): boolean {
    return isolation !== 'namespaces' || this.#config.backend === name || this.#config.allow_weak_isolation;
  }
}

const WEAK =
  'works but shares the kernel of this machine; to accept that set backend: namespaces or allow_weak_isolation: true in ' +
  'the iii-sandbox block';
