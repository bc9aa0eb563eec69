/** Opens every rung of this build over the cache of a configuration, strongest first. */
import type { Log } from '#contract';
import { defaultCacheDir } from '#sandbox/images';
import type { SandboxBackend } from '../backends/backend.ts';
import { BACKENDS } from '../backends/list.ts';
import { WarmPool } from '../backends/warm-pool.ts';
import type { SandboxConfig } from '../config.ts';
import { ISOLATIONS } from '../isolation.ts';
import { Ladder } from './ladder.ts';
import { Verdicts } from './verdicts.ts';

type LadderConfig = Pick<SandboxConfig, 'cache_dir' | 'min_idle'>;

export function openLadder(config: LadderConfig, log: Log, backends = BACKENDS): Ladder {
  const cacheDir = config.cache_dir ?? defaultCacheDir();
  const pooled = (backend: SandboxBackend) => new WarmPool(backend, { minIdle: config.min_idle, log });
  const strength = ({ isolation }: SandboxBackend) => ISOLATIONS.indexOf(isolation);
  const rungs = backends
    .flatMap((backend) => backend.open({ cacheDir, log, pooled }))
    .toSorted((a, b) => strength(a) - strength(b));
  return new Ladder(rungs, { verdicts: new Verdicts(cacheDir), log });
}
