/** How far the making of an image is. */
export interface ImageProgress {
  readonly image: string;
  readonly phase: 'resolving' | 'downloading' | 'building' | 'unpacking';
  readonly doneBytes: number;
  /** Absent while nobody knows. */
  readonly totalBytes?: number;
}

export type OnProgress = (progress: ImageProgress) => void;

const AT_MOST_EVERY_MS = 100;

/** Tells every new phase, its end, and in between as often as a reader can follow. */
export function throttled(onProgress: OnProgress): OnProgress {
  let phase = '';
  let toldAtMs = 0;
  return (progress) => {
    const nowMs = performance.now();
    const isEnd = progress.doneBytes === progress.totalBytes;
    if (progress.phase === phase && !isEnd && nowMs - toldAtMs < AT_MOST_EVERY_MS) return;
    phase = progress.phase;
    toldAtMs = nowMs;
    onProgress(progress);
  };
}
