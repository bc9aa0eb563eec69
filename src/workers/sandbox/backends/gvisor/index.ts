/** gVisor sandboxes: a kernel in a program, between the guest and the host's kernel. */
import type { BackendDef } from '../definition.ts';
import facts from './backend.json' with { type: 'json' };
import { gvisorBackend } from './gvisor-backend.ts';

/** Releases of runsc are dated. Each later one fixed ways to attack its kernel. */
const OLD_YEARS = 2;

export const gvisor: BackendDef = {
  ...facts,
  open: ({ cacheDir, log, pooled }) => [pooled(gvisorBackend({ cacheDir, log }))],
  // Ranks above QEMU where QEMU can only emulate, which is some twenty times slower.
  worth: () => (process.platform === 'linux' ? 2 : 0),
  advice(_rung, probe) {
    const problem = probe.ok ? whyOld(probe.detail) : undefined;
    if (problem === undefined) return undefined;
    return { problem, fix: 'install the current release of runsc: https://gvisor.dev/docs/user_guide/install/' };
  },
};

function whyOld(detail: string): string | undefined {
  const [, year, month, day] = /\brunsc \S*?(20\d\d)(\d\d)(\d\d)/.exec(detail) ?? [];
  if (year === undefined) return undefined;
  const date = `${year}-${month}-${day}`;
  const years = (Date.now() - Date.parse(date)) / 31_557_600_000;
  return years > OLD_YEARS ? `its runsc was released on ${date}; later releases fix isolation bugs` : undefined;
}
