/** One line of the doctor. */
export interface Finding {
  check: string;
  /** `off`: an optional capability is missing; `fail`: Workcell cannot run. */
  status: 'ok' | 'off' | 'warn' | 'fail';
  detail: string;
  /** What to do about it; empty when nothing. */
  fix: string;
}
