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

/** A share in percent; above 100 it overcommits. */
const percent = wire.uint32().min(1).max(1000);

/** `auto`, or a backend by name. */
export const backendNames = (backends: readonly BackendDef[]) => z.enum(['auto', ...backends.map(({ name }) => name)]);

export const configSchema = z.strictObject({
  auto_install: z.boolean().default(true).describe('Fetch or build a missing image on its first use.'),
  prepare_images: z
    .boolean()
    .default(true)
    .describe('Fetch or build the allowed images a minute after the start; needs auto_install.'),
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
  max_starting_sandboxes: wire
    .uint32()
    .min(1)
    .default(8)
    .describe('In a cluster: most sandboxes that start at once on this machine; others are started on another.'),
  max_sandbox_percent: percent
    .default(50)
    .describe(
      'Largest share of the host for one sandbox, in percent: of its processors, and of its memory for memory_mb plus disk_mb.',
    ),
  max_total_percent: percent
    .default(80)
    .describe(
      'Largest share of the memory of the host, in percent, for memory_mb plus disk_mb of all sandboxes together.',
    ),
  default_cpus: wire.uint32().default(1).describe('Processors of a sandbox when the call does not set them.'),
  default_memory_mb: wire.uint32().default(512).describe('Memory of a sandbox in MiB when the call does not set it.'),
  per_image_caps: z
    .record(z.string(), ImageCaps)
    .default({})
    .describe('By image name: max_cpus and max_memory_mb. A missing key sets no cap.'),
  custom_images: customImages.default({}).describe('Additional images: your name for each, and its OCI reference.'),
  backend: backendNames(BACKENDS)
    .default('auto')
    .describe('Isolation backend; auto uses the strongest that works on this host.'),
  allow_weak_isolation: z
    .boolean()
    .default(false)
    .describe('Whether auto may fall back to namespaces, which share the kernel of this machine.'),
  default_disk_mb: wire.uint32().default(1024).describe('Disk size of a sandbox in MiB when the call does not set it.'),
  min_idle: wire
    .uint32()
    .default(1)
    .describe('Machines kept ready for each image and size in use, where starting one is slow; 0 for none.'),
  max_concurrent_exec_per_sandbox: wire.uint32().default(4).describe('Commands that run at once in one sandbox.'),
  max_jobs_per_sandbox: wire
    .uint32()
    .default(8)
    .describe('Background jobs that run at once in one sandbox, beside its commands.'),
  job_retention_secs: wire
    .uint32()
    .max(2_147_483)
    .default(3600)
    .describe('Seconds that an ended job and its last output are kept.'),
  max_exec_timeout_ms: wire
    .uint64()
    .default(3_600_000)
    .describe('Upper limit of timeout_ms, in milliseconds; a call without one gets 300000.'),
  search_timeout_ms: wire
    .uint32()
    .min(1)
    .max(2_147_483_647)
    .default(20_000)
    .describe('Time limit of sandbox::fs::grep and sandbox::fs::sed, in milliseconds.'),
  egress: EgressCeiling.default(EgressCeiling.parse({})).describe(
    'Hosts that sandboxes with network: true may reach; a call can narrow the list.',
  ),
  cache_dir: z
    .string()
    .nullable()
    .default(null)
    .describe("Directory of the image cache; null for the user's cache directory."),
});

export type SandboxConfig = z.output<typeof configSchema>;
