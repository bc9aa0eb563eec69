/** The `iii-sandbox` block of the configuration. Missing keys have the value here. */
import { z } from 'zod';

import { wire } from '#contract';
import { PRESET_NAMES } from '#sandbox/images';
import type { BackendDef } from './backends/definition.ts';
import { BACKENDS } from './backends/list.ts';
import { EgressCeiling } from './egress/index.ts';

const ImageCaps = z.strictObject({
  max_cpus: wire.uint32().optional(),
  max_memory_mb: wire.uint32().optional(),
});

const customImages = z.record(z.string(), z.string().min(1)).superRefine((images, issues) => {
  for (const name of Object.keys(images)) {
    const isPreset = (PRESET_NAMES as readonly string[]).includes(name);
    if (name !== '' && !isPreset) continue;
    const message = isPreset ? `${name} is the name of a preset; choose another` : 'an image needs a name';
    issues.addIssue({ code: 'custom', path: [name], message });
  }
});

/** Above 100 it overcommits. */
const percent = wire.uint32().min(1).max(1000);

/** `auto`, or a backend by name. */
export const backendNames = (backends: readonly BackendDef[]) => z.enum(['auto', ...backends.map(({ name }) => name)]);

export const configSchema = z.strictObject({
  auto_install: z
    .boolean()
    .default(true)
    .describe('Whether an image that is not there yet is fetched or built when it is first asked for.'),
  prepare_images: z
    .boolean()
    .default(true)
    .describe('Whether the images that may be booted are made ready a minute after the start; needs auto_install.'),
  image_allowlist: z
    .array(z.string())
    .default([])
    .describe(
      'Names of the images that may be booted; none when a block leaves it out. Without a block: python and node.',
    ),
  default_idle_timeout_secs: wire
    .uint64()
    .default(300)
    .describe('Seconds without a call after which a sandbox is stopped.'),
  max_concurrent_sandboxes: wire.uint32().default(32).describe('Most sandboxes alive at once.'),
  max_sandbox_percent: percent
    .default(50)
    .describe(
      'The part of the host that one sandbox may ask for: of its processors, and of its memory for memory_mb and disk_mb.',
    ),
  max_total_percent: percent
    .default(80)
    .describe('The part of the memory of the host that memory_mb and disk_mb of all sandboxes may take together.'),
  default_cpus: wire.uint32().default(1).describe('Processors of a sandbox when the call does not say.'),
  default_memory_mb: wire.uint32().default(512).describe('Memory of a sandbox in MiB when the call does not say.'),
  per_image_caps: z
    .record(z.string(), ImageCaps)
    .default({})
    .describe('By image name: max_cpus and max_memory_mb. A member left out caps nothing.'),
  custom_images: customImages.default({}).describe('More images: a name of yours and its OCI reference.'),
  backend: backendNames(BACKENDS)
    .default('auto')
    .describe('What a sandbox is made of; auto takes the strongest that works here.'),
  allow_weak_isolation: z
    .boolean()
    .default(false)
    .describe('Whether auto may fall back to namespaces, which share the kernel of this machine.'),
  default_disk_mb: wire
    .uint32()
    .default(1024)
    .describe('What a sandbox may write, in MiB, when the call does not say.'),
  min_idle: wire
    .uint32()
    .default(1)
    .describe('Machines kept ready for each image and size in use, where starting one is slow; 0 for none.'),
  max_concurrent_exec_per_sandbox: wire.uint32().default(4).describe('Commands that run at once in one sandbox.'),
  max_exec_timeout_ms: wire
    .uint64()
    .default(3_600_000)
    .describe('Longest a command may run, whatever the call says; more than the 300000 of a call that does not say.'),
  search_timeout_ms: wire
    .uint32()
    .min(1)
    .max(2_147_483_647)
    .default(20_000)
    .describe(
      'Longest that sandbox::fs::grep, and what sandbox::fs::sed finds and replaces, may take, in milliseconds.',
    ),
  egress: EgressCeiling.default(EgressCeiling.parse({})).describe(
    'The most that sandboxes created with network: true reach; a call can ask for less.',
  ),
  cache_dir: z
    .string()
    .nullable()
    .default(null)
    .describe('Where images are kept; null for the cache directory of the user.'),
});

export type SandboxConfig = z.output<typeof configSchema>;
