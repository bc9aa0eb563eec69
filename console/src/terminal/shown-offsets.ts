/** How much of a job's output this tab has shown in a terminal: kept for the tab, so that a reload knows it. */
const keyOf = (jobId: string) => `workcell.shown.${jobId}`;

/** Undefined if this tab did not show the job yet. */
export function shownOffset(jobId: string): number | undefined {
  const kept = sessionStorage.getItem(keyOf(jobId));
  return kept === null ? undefined : Number(kept);
}

export function keepShownOffset(jobId: string, offset: number): void {
  sessionStorage.setItem(keyOf(jobId), String(offset));
}
