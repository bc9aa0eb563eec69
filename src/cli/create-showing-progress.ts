/** sandbox::create, with the making of its image shown on a terminal while it lasts. */
import { z } from 'zod';

import type { Bus } from '#contract';
import type { ChannelReader } from '#protocol';
import { clearProgress, showProgress } from './image-cache.ts';
import { WAIT_MS } from './sandbox-command.ts';

const Step = z.object({
  image: z.string(),
  phase: z.enum(['resolving', 'downloading', 'building', 'unpacking']),
  done_bytes: z.number(),
  total_bytes: z.number().optional(),
  percent: z.number(),
});

export async function createShowingProgress(
  bus: Bus,
  request: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<unknown> {
  const options = { timeoutMs: WAIT_MS, signal };
  if (!process.stderr.isTTY) return bus.call('sandbox::create', request, options);

  const { reader, writer } = await bus.createChannel();
  const steps = await bus.openReader(reader);
  // The call tells what becomes of the sandbox, also when the engine is lost.
  showSteps(steps).catch(() => {});
  try {
    return await bus.call('sandbox::create', { ...request, progress: writer }, options);
  } finally {
    steps.cancel();
    clearProgress();
  }
}

async function showSteps(steps: ChannelReader): Promise<void> {
  for await (const item of steps) {
    if (typeof item !== 'string') continue;
    const { image, phase, done_bytes: doneBytes, total_bytes: totalBytes, percent } = Step.parse(JSON.parse(item));
    showProgress({ image, phase, doneBytes, totalBytes }, percent);
  }
}
