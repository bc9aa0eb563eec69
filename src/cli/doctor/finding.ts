/** One line of the doctor. */
export interface Finding {
  check: string;
  /** `off`: an optional capability is missing; `fail`: Workcell cannot run. */
  status: 'ok' | 'off' | 'warn' | 'fail';
  detail: string;
  /** Remedy; empty when none is needed. */
  fix: string;
}

/** `ok`, or a warning with its fix; `status` replaces the warning. */
export function judged(
  isOk: boolean,
  { status = 'warn', fix, ...found }: Omit<Finding, 'status'> & Partial<Finding>,
): Finding {
  return { ...found, status: isOk ? 'ok' : status, fix: isOk ? '' : fix };
}
