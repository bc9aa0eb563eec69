/** The iii-sandbox worker: configuration, failures, images and the running sandboxes. */
import { defineWorker, type Fleet, type Log } from '#contract';
import { OpenReads } from '#file-functions';
import type { JobContext } from '#job-functions';
import { openImages, PRESET_NAMES, type Images } from '#sandbox/images';
import type { BackendDef } from './backends/definition.ts';
import { BACKENDS } from './backends/list.ts';
import { BackendChoice } from './choose-backend.ts';
import { configSchema, type SandboxConfig } from './config.ts';
import { errors, spell } from './errors.ts';
import { offerSandboxes } from './fleet/own-report.ts';
import { ImageReadiness } from './image-readiness.ts';
import { openLadder } from './ladder/open-ladder.ts';
import { openJobs } from './live/open-jobs.ts';
import { sandboxMetrics } from './live/sandbox-metrics.ts';
import { Sandboxes } from './live/sandboxes.ts';
import { translate } from './translate.ts';

export interface SandboxContext {
  config: SandboxConfig;
  images: Images;
  readiness: ImageReadiness;
  backends: BackendChoice;
  sandboxes: Sandboxes;
  /** Context of the operations on jobs. */
  live: JobContext;
  openReads: OpenReads;
  /** Images that are being sent to other machines. */
  imageSends: OpenReads;
  /** Ends the report of this machine to the cluster. */
  withdraw?: () => void;
}

/** Each reads a whole image from the disk. */
export const MOST_IMAGE_SENDS = 2;

/** Functions that both workers with jobs have: they refuse bad input with the same code. */
const JOB_FUNCTIONS = new Set(['status', 'output', 'input', 'attach', 'kill'].map((name) => `sandbox::${name}`));

export const sandbox = defineWorker({
  name: 'iii-sandbox',
  summary: 'Disposable machines to run commands and keep files in, thrown away when they are done.',
  config: configSchema,
  shippedBlock: { image_allowlist: [...PRESET_NAMES] },
  errors,
  failures: {
    badInput: (problem, functionId) => errors.fail(JOB_FUNCTIONS.has(functionId) ? 'S210' : 'S001', { problem }),
    internal: (callId) => errors.fail('S216', { problem: `internal error; see call ${callId} in the server log` }),
    deadline: (deadlineMs) =>
      errors.fail('S216', { problem: `not done after ${deadlineMs} ms, which no setting raises; do less in one call` }),
  },
  translate,
  spell,
  open: (config, log) => openSandboxes(config, log),
  metrics: ({ sandboxes }) => sandboxMetrics(sandboxes),
  async close({ sandboxes, live, openReads, backends, readiness, imageSends, withdraw }) {
    withdraw?.();
    imageSends.close();
    readiness.close();
    openReads.close();
    live.attachments.close();
    await sandboxes.close();
    live.jobs.close();
    await live.regexes.close();
    await backends.close();
  },
});

/** Opens the sandboxes, and removes leftovers of a killed daemon. */
export async function openSandboxes(
  config: SandboxConfig,
  log: Log,
  backends: readonly BackendDef[] = BACKENDS,
  fleet?: Fleet,
): Promise<SandboxContext> {
  const ladder = openLadder(config, log, backends);
  await ladder.sweep();
  if (config.image_allowlist.length === 0)
    log.warn('iii-sandbox.image_allowlist is empty: no image may be used, so no sandbox can be created');
  if (config.egress.allow.length === 0)
    log.warn('iii-sandbox.egress.allow is empty: sandboxes reach no host, also with network: true');
  const images = openImages(config, log);
  images.sweep();
  const readiness = new ImageReadiness(images, log);
  if (config.auto_install && config.prepare_images) void readiness.prepareLater(config.image_allowlist);
  const sandboxes = new Sandboxes(config, log, fleet);
  const choice = new BackendChoice(ladder, config, log);
  const withdraw = fleet && offerSandboxes({ config, sandboxes, images, backends: choice }, fleet);
  return {
    config,
    backends: choice,
    images,
    readiness,
    sandboxes,
    live: openJobs(sandboxes),
    openReads: new OpenReads(),
    imageSends: new OpenReads({ maxOpen: MOST_IMAGE_SENDS }),
    ...(withdraw && { withdraw }),
  };
}
