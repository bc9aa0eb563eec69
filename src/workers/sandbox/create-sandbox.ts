/**
 * Creates a sandbox: limits first, then the image, then the machine.
 *
 * Everything that can be refused without work is refused first.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import type { EgressPolicy } from '#egress';
import { ImageError, type PreparedImage } from '#sandbox/images';
import type { SandboxConfig } from './config.ts';
import { EgressRequest, policyOf } from './egress/index.ts';
import { EnvShape, readEnv } from './environment.ts';
import { errors } from './errors.ts';
import type { LiveSandbox } from './live/live-sandbox.ts';
import { LONG_CALL_MS } from './long-deadline.ts';
import { toImageEvent } from './image-event.ts';
import type { SandboxContext } from './worker.ts';

/** Answers "call again" before a model's client times out, which is after a minute or less. */
export const MODEL_DEFAULTS = { patience_ms: 20_000 };

/** The fields of a new sandbox, the same for sandbox::create and sandbox::run. */
export const shapeFields = {
  cpus: wire
    .uint32()
    .nullable()
    .default(null)
    .describe('Number of processors. Default: default_cpus of the configuration.'),
  memory_mb: wire
    .uint32()
    .nullable()
    .default(null)
    .describe('Memory in MiB. Default: default_memory_mb of the configuration.'),
  name: z.string().nullable().default(null).describe('A label for sandbox::list; need not be unique.'),
  network: z
    .boolean()
    .nullable()
    .default(null)
    .describe('Give it network access through an HTTP and HTTPS proxy; default false.'),
  egress: EgressRequest.nullish().describe(
    'Hosts that it may reach with network: true. Default: all that the operator allows, as shipped every public host on ports 80 and 443.',
  ),
  idle_timeout_secs: wire
    .uint64()
    .nullable()
    .default(null)
    .describe(
      'Seconds without a call after which it is stopped. Default: default_idle_timeout_secs of the configuration.',
    ),
  disk_mb: wire
    .uint32()
    .nullable()
    .optional()
    .describe('Disk size in MiB. Default: default_disk_mb of the configuration.'),
  patience_ms: wire
    .uint64()
    .nullish()
    .describe(
      'Milliseconds to wait for an image that is not cached; then the call fails with S102 and the progress, and the download or build continues.',
    ),
};

const WantedSchema = z.object({ image: z.string(), env: EnvShape.optional(), ...shapeFields });
export type WantedSandbox = z.output<typeof WantedSchema>;

export function createSandbox(wanted: WantedSandbox, context: SandboxContext, scope: CallScope): Promise<LiveSandbox> {
  const { config, sandboxes, backends } = context;
  return sandboxes.withSlot(async () => {
    requireAllowed(wanted.image, context);
    const size = sizeOf(wanted, config);
    const env = readEnv(wanted.env);
    const egress = egressOf(wanted, config);
    const giveBack = sandboxes.share.take(size, wanted);
    let holding: string | undefined;
    const onGone = () => {
      giveBack();
      if (holding !== undefined) context.images.release(holding);
      holding = undefined;
    };
    try {
      const chosen = await backends.choose(scope.signal);
      const image = await prepareImage(wanted, context, scope);
      context.images.hold(image.digest);
      holding = image.digest;
      const made = {
        name: wanted.name,
        caller: scope.call.principal,
        shape: { ...size, image: { ...image, directory: async () => image.rootDir } },
        idleTimeoutMs: (wanted.idle_timeout_secs ?? config.default_idle_timeout_secs) * 1000,
        env,
        egress,
        onGone,
      };
      return await sandboxes.start(chosen, made, scope.signal);
    } catch (error) {
      onGone();
      throw error;
    }
  });
}

/** Undefined without a network: lists that would have no effect are a mistake of the caller. */
function egressOf({ network, egress }: WantedSandbox, config: SandboxConfig): EgressPolicy | undefined {
  if (network) return policyOf(config.egress, egress ?? undefined);
  if (!egress) return undefined;
  throw errors.fail('S001', { problem: 'egress needs network: true', fix: { network: true } });
}

function requireAllowed(image: string, { config, images }: SandboxContext): void {
  const known = images.catalogue.map(({ name }) => name);
  const allowed = known.filter((name) => config.image_allowlist.includes(name));
  if (!allowed.includes(image)) throw errors.fail('S100', { image, allowed });
}

function sizeOf(wanted: WantedSandbox, config: SandboxConfig): { cpus: number; memoryMb: number; diskMb: number } {
  const cpus = wanted.cpus ?? config.default_cpus;
  const memoryMb = wanted.memory_mb ?? config.default_memory_mb;
  const diskMb = wanted.disk_mb ?? config.default_disk_mb;
  const caps = config.per_image_caps[wanted.image] ?? {};
  if (cpus > (caps.max_cpus ?? Infinity)) {
    const problem = `cpus: ${cpus} requested; image '${wanted.image}' is limited to ${caps.max_cpus}`;
    throw errors.fail('S400', { problem, fix: { cpus: caps.max_cpus } });
  }
  if (memoryMb > (caps.max_memory_mb ?? Infinity)) {
    const problem = `memory_mb: ${memoryMb} requested; image '${wanted.image}' is limited to ${caps.max_memory_mb}`;
    throw errors.fail('S400', { problem, fix: { memory_mb: caps.max_memory_mb } });
  }
  for (const [field, value] of Object.entries({ cpus, memory_mb: memoryMb, disk_mb: diskMb })) {
    if (value === 0) throw errors.fail('S001', { problem: `${field} must be at least 1 (got 0)` });
  }
  return { cpus, memoryMb, diskMb };
}

async function prepareImage(
  { image: name, patience_ms: patienceMs }: WantedSandbox,
  { config, images, readiness }: SandboxContext,
  { signal, emit, log }: CallScope,
): Promise<PreparedImage> {
  if (!config.auto_install && !(await images.isCached(name))) throw errors.fail('S101', { image: name });
  const patience = new AbortController();
  const timer = patienceMs != null && setTimeout(() => patience.abort(), Math.min(patienceMs, LONG_CALL_MS));
  if (timer) void readiness.keepMaking(name);
  try {
    return await images.prepare(name, {
      signal: AbortSignal.any([signal, patience.signal]),
      onProgress(step) {
        log.debug('an image is prepared', { ...step });
        emit?.(toImageEvent(step));
      },
    });
  } catch (error) {
    if (patience.signal.aborted && !signal.aborted) {
      throw errors.fail('S102', { image: name, progress: readiness.progressOf(name) }, error);
    }
    if (!(error instanceof ImageError)) throw error;
    throw errors.fail('S102', { image: name, problem: error.problem }, error);
  } finally {
    if (timer) clearTimeout(timer);
  }
}
