/** Tries each isolation rung and reports why it does not work, and which one sandboxes would get. */
import { Failure, silentLog } from '#contract';
import {
  BACKENDS,
  BackendChoice,
  missingFor,
  openLadder,
  worthSettingUp,
  type Answer,
  type Ladder,
  type SandboxBackend,
  type SandboxConfig,
} from '#workers/sandbox';
import type { Finding } from './finding.ts';

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
      // Booting an emulated machine takes up to a minute.
      const isNeedless =
        backend.isolation === 'emulated-vm' && stronger !== undefined && config.backend !== backend.name;
      if (isNeedless && !isFresh && !ladder.recall(backend)) {
        rungs.push(notTried(backend.rung, stronger!));
        continue;
      }
      onTry(backend.rung);
      const answer = await ladder.ask(backend, { signal, isFresh });
      rungs.push(describeRung(backend, answer));
      if (answer.probe.ok) stronger ??= backend.rung;
    }
    const names = ladder.rungs.map(({ name }) => name).filter((name) => [name, 'auto'].includes(config.backend));
    return [await checkChoice(new BackendChoice(ladder, config, silentLog), names, signal), ...rungs];
  } finally {
    await ladder.close();
  }
}

async function checkChoice(choice: BackendChoice, names: string[], signal: AbortSignal): Promise<Finding> {
  try {
    const { backend } = await choice.choose(signal);
    return { check: 'sandboxes', status: 'ok', detail: `isolated by ${backend.rung}: ${backend.isolation}`, fix: '' };
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

function notTried(rung: string, stronger: string): Finding {
  const detail = `not tried: ${stronger} works and is faster`;
  return { check: rung, status: 'off', detail, fix: 'workcell doctor --fresh tries it' };
}

function describeRung({ name, rung, isolation }: SandboxBackend, { probe, ...answer }: Answer): Finding {
  const when = answer.isRemembered ? ` on ${new Date(answer.askedAtMs).toISOString().slice(0, 10)}` : '';
  const secs = `${(answer.tookMs / 1000).toFixed(1)} s${when}`;
  const backend = BACKENDS.find((known) => known.name === name);
  const { problem, fix = '' } = backend?.advice?.(rung, probe) ?? {};
  if (!probe.ok) {
    const isLacking = backend !== undefined && missingFor(backend).length > 0;
    const what = isLacking ? `workcell setup ${name}` : fix;
    return { check: rung, status: 'off', detail: `${probe.reason} (${secs})`, fix: what };
  }
  const detail = `${isolation}, answered in ${secs}; ${problem ?? probe.detail}`;
  return { check: rung, status: problem === undefined ? 'ok' : 'warn', detail, fix };
}
