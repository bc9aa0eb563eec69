export const PHASES = ['resolving', 'downloading', 'building', 'unpacking'] as const;

/** Progress of making an image. */
export interface ImageProgress {
  readonly image: string;
  readonly phase: (typeof PHASES)[number];
  readonly doneBytes: number;
  /** Absent while unknown. */
  readonly totalBytes?: number;
  /** From 0 to 1, for a phase that is not counted in bytes: the share of its usual time that has passed. */
  readonly share?: number;
}

/** The steps of an image with their percentages. Each image skips one of the two in the middle. */
const STEPS: Readonly<Record<ImageProgress['phase'], { step: number; from: number; to: number }>> = {
  resolving: { step: 1, from: 0, to: 5 },
  downloading: { step: 2, from: 5, to: 75 },
  building: { step: 2, from: 5, to: 75 },
  unpacking: { step: 3, from: 75, to: 99 },
};

export const STEP_COUNT = 3;

export function stepOf({ phase }: ImageProgress): number {
  return STEPS[phase].step;
}

/** Overall percentage; never 100, which stands for the finished image. */
export function percentOf({ phase, doneBytes, totalBytes, share }: ImageProgress): number {
  const { from, to } = STEPS[phase];
  const done = share ?? (totalBytes === undefined || totalBytes === 0 ? 0 : Math.min(1, doneBytes / totalBytes));
  return Math.round(from + (to - from) * done);
}

/** One line, such as `python: 42 %, downloading 12.3 of 40.1 MB`. */
export function progressText(progress: ImageProgress): string {
  const { image, phase, doneBytes, totalBytes } = progress;
  const total = totalBytes === undefined ? '' : ` of ${megabytes(totalBytes)}`;
  const amount = doneBytes === 0 ? '' : ` ${megabytes(doneBytes)}${total} MB`;
  return `${image}: ${percentOf(progress)} %, ${phase}${amount}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

export type OnProgress = (progress: ImageProgress) => void;

const AT_MOST_EVERY_MS = 100;

/** Reports every phase at its start and end, and in between at a limited rate. */
export function throttled(onProgress: OnProgress): OnProgress {
  let phase = '';
  let reportedAtMs = 0;
  return (progress) => {
    const nowMs = performance.now();
    const isEnd = progress.doneBytes === progress.totalBytes;
    if (progress.phase === phase && !isEnd && nowMs - reportedAtMs < AT_MOST_EVERY_MS) return;
    phase = progress.phase;
    reportedAtMs = nowMs;
    onProgress(progress);
  };
}
