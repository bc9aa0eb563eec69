/**
 * Every rung of this build, from the strongest to the weakest, over the cache of a configuration.
 *
 * QEMU stands there twice. On the processor's own virtualisation it is the best there is; as an emulator it isolates as
 * well but is slow, so gVisor comes before it.
 */
import type { Log } from '#contract';
import type { SandboxBackend } from '../backends/backend.ts';
import { GvisorBackend } from '../backends/gvisor/index.ts';
import { NamespacesBackend } from '../backends/namespaces/index.ts';
import { QemuBackend, type Accelerator } from '../backends/qemu/index.ts';
import { WarmPool } from '../backends/warm-pool.ts';
import type { SandboxConfig } from '../config.ts';
import { defaultCacheDir } from '../images/index.ts';
import { Ladder } from './ladder.ts';
import { Verdicts } from './verdicts.ts';

/** What each system calls the virtualisation of its processor. */
const ACCELERATORS: Partial<Record<NodeJS.Platform, Accelerator>> = { linux: 'kvm', darwin: 'hvf', win32: 'whpx' };

type LadderConfig = Pick<SandboxConfig, 'cache_dir' | 'min_idle'>;

export function openLadder(config: LadderConfig, log: Log): Ladder {
  const cacheDir = config.cache_dir ?? defaultCacheDir();
  const pooled = (backend: SandboxBackend) => new WarmPool(backend, { minIdle: config.min_idle, log });
  const qemu = (accelerator: Accelerator) => pooled(new QemuBackend({ cacheDir, log, accelerator }));
  const native = ACCELERATORS[process.platform];
  const rungs = [
    ...(native === undefined ? [] : [qemu(native)]),
    pooled(new GvisorBackend({ cacheDir, log })),
    qemu('tcg'),
    // Starting one takes less than asking for one that waits.
    new NamespacesBackend({ cacheDir, log }),
  ];
  return new Ladder(rungs, { verdicts: new Verdicts(cacheDir), log });
}
