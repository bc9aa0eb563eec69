/** Processor time of a process that is not ours. */
import { readFileSync } from 'node:fs';

/** A tick of the kernel's clock, in which /proc counts. */
const TICK_US = 10_000;

export function cpuUsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}
