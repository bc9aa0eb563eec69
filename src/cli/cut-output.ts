/** The line a terminal prints when a command's output was truncated. */
export interface Cut {
  stdout_truncated?: boolean | undefined;
  stderr_truncated?: boolean | undefined;
}

/** A line for standard error, or nothing; `how` states the limit and what to do. */
export function cutLine({ stdout_truncated, stderr_truncated }: Cut, how: string): string {
  const cut = [stdout_truncated && 'standard output', stderr_truncated && 'standard error'].filter(Boolean);
  return cut.length === 0 ? '' : `workcell: ${cut.join(' and ')} cut ${how}\n`;
}
