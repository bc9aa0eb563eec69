/** The events of a call while the image of its sandbox is fetched or built. */
import { z } from 'zod';

import { percentOf, PHASES, progressText, STEP_COUNT, stepOf, type ImageProgress } from '#sandbox/images';

export const ImageEvent = z.object({
  type: z.literal('image'),
  message: z.string().describe('The same for people.'),
  image: z.string(),
  phase: z.enum(PHASES),
  done_bytes: z.int(),
  total_bytes: z.int().optional().describe('Absent while it is not known.'),
  step: z.int().describe('Number of the phase, from 1.'),
  steps: z.int(),
  percent: z.int().describe('Progress of the whole image.'),
});

export function toImageEvent(progress: ImageProgress): z.infer<typeof ImageEvent> {
  const { image, phase, doneBytes, totalBytes } = progress;
  return {
    type: 'image',
    message: progressText(progress),
    ...{ image, phase, done_bytes: doneBytes },
    ...(totalBytes !== undefined && { total_bytes: totalBytes }),
    ...{ step: stepOf(progress), steps: STEP_COUNT, percent: percentOf(progress) },
  };
}
