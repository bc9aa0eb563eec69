/**
 * Which backend makes the sandboxes: the one that the operator named, or the strongest that works here.
 *
 * Namespaces share the kernel of the host, so they are taken only by name or with `allow_weak_isolation`.
 */
import { ConfigError } from '#contract';
import type { Isolation, SandboxBackend } from './backends/backend.ts';
import type { SandboxConfig } from './config.ts';
import { errors } from './errors.ts';

export interface ChosenBackend {
  readonly backend: SandboxBackend;
  readonly isolation: Isolation;
}

export class BackendChoice {
  readonly #candidates: readonly SandboxBackend[];
  readonly #config: SandboxConfig;
  #chosen: ChosenBackend | undefined;

  /** `available` from the strongest to the weakest. */
  constructor(available: readonly SandboxBackend[], config: SandboxConfig) {
    const { backend: wanted } = config;
    this.#config = config;
    this.#candidates = wanted === 'auto' ? available : available.filter(({ name }) => name === wanted);
    if (this.#candidates.length === 0) {
      const names = available.map(({ name }) => name).join(', ');
      throw new ConfigError(`workers.iii-sandbox.backend: this build has no ${wanted}; it has ${names}`);
    }
  }

  async choose(signal: AbortSignal): Promise<ChosenBackend> {
    this.#chosen ??= await this.#find(signal);
    return this.#chosen;
  }

  async close(): Promise<void> {
    for (const backend of this.#candidates) await backend.close();
  }

  async #find(signal: AbortSignal): Promise<ChosenBackend> {
    const reasons: string[] = [];
    for (const backend of this.#candidates) {
      const probe = await backend.probe(signal);
      if (!probe.ok) reasons.push(`${backend.rung}: ${probe.reason}`);
      else if (this.#accepts(probe.isolation)) return { backend, isolation: probe.isolation };
      else reasons.push(`${backend.rung} works but shares the kernel of this machine: ${ACCEPT}`);
    }
    throw errors.fail('S300', { problem: reasons.join('; ') });
  }

  #accepts(isolation: Isolation): boolean {
    return isolation !== 'namespaces' || this.#config.backend === 'namespaces' || this.#config.allow_weak_isolation;
  }
}

const ACCEPT = 'set backend: namespaces or allow_weak_isolation: true in the iii-sandbox block to accept that';
