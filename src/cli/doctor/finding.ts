/** One line of the doctor. */
export interface Finding {
  check: string;
  /** `off` is something that this host could do without; `fail` means that Workcell cannot run. */
  status: 'ok' | 'off' | 'warn' | 'fail';
  detail: string;
  /** What to do about it; empty when nothing. */
  fix: string;
}
