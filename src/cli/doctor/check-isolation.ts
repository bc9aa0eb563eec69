/** The rungs of the sandbox: each tried, with the reason where it does not work, and which one sandboxes would get. */
import { Failure, silentLog } from '#contract';
import {
  BackendChoice,
  missingFor,
  openLadder,
  worthSettingUp,
  type Answer,
  type BackendName,
  type Ladder,
  type SandboxConfig,
} from '#workers/sandbox';
import type { Finding } from './finding.ts';

/** Booting a machine on it takes up to a minute. */
const EMULATION = 'qemu+tcg';

interface Trying {
  readonly signal: AbortSignal;
  readonly isFresh: boolean;
  /** Called before a rung is tried, which may take seconds. */
  readonly onTry: (rung: string) => void;
}

export async function checkIsolation(
  config: SandboxConfig,
  { signal, isFresh, onTry }: Trying,
  ladder: Ladder = openLadder(config, silentLog),
): Promise<Finding[]> {
  try {
    const rungs: Finding[] = [];
    let stronger: string | undefined;
    for (const backend of ladder.rungs) {
      const isNeedless = backend.rung === EMULATION && stronger !== undefined && config.backend !== backend.name;
      if (isNeedless && !isFresh && !ladder.recall(backend)) {
        rungs.push(notTried(backend.rung, stronger!));
        continue;
      }
      onTry(backend.rung);
      const answer = await ladder.ask(backend, { signal, isFresh });
      rungs.push(tellRung(backend, answer));
      if (answer.probe.ok) stronger ??= backend.rung;
    }
    const names = ladder.rungs.map(({ name }) => name).filter((name) => [name, 'auto'].includes(config.backend));
    return [await checkChoice(new BackendChoice(ladder, config, silentLog), names, signal), ...rungs];
  } finally {
    await ladder.close();
  }
}

async function checkChoice(choice: BackendChoice, names: BackendName[], signal: AbortSignal): Promise<Finding> {
  try {
    const { backend, isolation } = await choice.choose(signal);
    return { check: 'sandboxes', status: 'ok', detail: `isolated by ${backend.rung}: ${isolation}`, fix: '' };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const lacking = worthSettingUp(names);
    return {
      check: 'sandboxes',
      status: 'warn',
      detail: 'nothing that may be taken works, so sandbox::create fails',
      fix: lacking === undefined ? WEAK : `workcell setup ${lacking}`,
    };
  }
}

const WEAK = 'set allow_weak_isolation: true in the iii-sandbox block to accept namespaces';

/** What to do where every program is there and the rung does not work all the same. */
const HINTS: Partial<Record<string, string>> = {
  'qemu+kvm': 'needs a host whose processor gives its virtualisation to this one',
  'qemu+hvf': 'needs a Mac whose processor can virtualise',
  'qemu+whpx': 'turn on the Windows Hypervisor Platform',
};

function notTried(rung: string, stronger: string): Finding {
  const detail = `not tried: ${stronger} works and is faster`;
  return { check: rung, status: 'off', detail, fix: 'workcell doctor --fresh tries it' };
}

const NEW_RUNSC = 'install the current release of runsc: https://gvisor.dev/docs/user_guide/install/';

/** Releases of runsc bear their date. Each since has mended what a program could do to its kernel. */
const OLD_YEARS = 2;

function whyOld(detail: string): string | undefined {
  const [, year, month, day] = /\brunsc \S*?(20\d\d)(\d\d)(\d\d)/.exec(detail) ?? [];
  if (year === undefined) return undefined;
  const date = `${year}-${month}-${day}`;
  const years = (Date.now() - Date.parse(date)) / 31_557_600_000;
  return years > OLD_YEARS ? `its runsc was released on ${date}; later releases fix isolation bugs` : undefined;
}

function tellRung({ name, rung }: { name: BackendName; rung: string }, { probe, ...told }: Answer): Finding {
  const when = told.isRemembered ? ` on ${new Date(told.askedAtMs).toISOString().slice(0, 10)}` : '';
  const secs = `${(told.tookMs / 1000).toFixed(1)} s${when}`;
  if (probe.ok) {
    const old = name === 'gvisor' ? whyOld(probe.detail) : undefined;
    if (old)
      return { check: rung, status: 'warn', detail: `${probe.isolation}, answered in ${secs}; ${old}`, fix: NEW_RUNSC };
    return { check: rung, status: 'ok', detail: `${probe.isolation}, answered in ${secs}; ${probe.detail}`, fix: '' };
  }
  const fix = missingFor(name).length > 0 ? `workcell setup ${name}` : (HINTS[rung] ?? '');
  return { check: rung, status: 'off', detail: `${probe.reason} (${secs})`, fix };
}
