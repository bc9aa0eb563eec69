/**
 * Explains the decision about a call, with the code that would decide: each check names the configuration key that it
 * comes from.
 *
 * The order is that in which a server applies them; the first that denies is the answer.
 */
import { compileProtected } from '#host';
import { makePrincipal, shippedCell, type CalledFunction, type Denial, type Grants, type Verdict } from '#contract';
import { Policies } from '#engine';
import { UNKNOWN, type Access } from '#access';
import { explainCommand } from '#workers/shell';
import type { WorkerEntry } from './config-file.ts';

export interface Check {
  readonly verdict: Verdict;
  /** The key or the rule that decided, in its words. */
  readonly rule: string;
  readonly reason?: string | undefined;
  /** Advice that would change the answer. */
  readonly change: string;
}

export interface ExplainOptions {
  readonly access: Access;
  readonly entries: readonly WorkerEntry[];
  /** The origin of `entries`, for the rule about functions that it leaves out: `preset look`. */
  readonly source: string;
  readonly grants: Grants;
}

const COMMANDS = new Set(['shell::exec', 'shell::exec_bg']);

export async function explainCall(fn: CalledFunction, payload: unknown, options: ExplainOptions): Promise<Check[]> {
  const { grants } = options;
  const only = grants.only && judge({ only: grants.only }, fn, payload, options);
  const readOnly = grants.isReadOnly && judge({ isReadOnly: true }, fn, payload, options);
  return [
    ...(only ? [{ ...only, rule: `--tools ${grants.only.join(',')}`, change: `add ${fn.id} to --tools` }] : []),
    ...(readOnly ? [{ ...readOnly, rule: '--read-only', change: 'leave --read-only out' }] : []),
    ...offered(fn, payload, options),
    byPolicy(fn, payload, options),
    ...byProtect(fn, payload, options),
    ...(await byShell(fn, payload, options)),
  ];
}

/** The check that decided: the first that denies, else the first that asks, else the policy. */
export function decisive(checks: readonly Check[]): Check {
  const first = (verdict: Verdict) => checks.find((check) => check.verdict === verdict);
  return first('deny') ?? first('ask') ?? checks.find(({ rule }) => !rule.startsWith('--')) ?? checks[0]!;
}

/** Asks the engine's own code, with only these grants. */
function judge(grants: Grants, fn: CalledFunction, payload: unknown, { access }: ExplainOptions) {
  return new Policies(access).authorize(makePrincipal('local', 'the caller', grants), fn, payload);
}

function offered(fn: CalledFunction, payload: unknown, { entries, source, access }: ExplainOptions): Check[] {
  const denials = entries.flatMap(({ denial, namespace = 'default' }): (Denial & { namespace: string })[] =>
    denial ? [{ ...denial, namespace }] : [],
  );
  if (denials.length === 0) return [];
  const policies = new Policies(access);
  for (const { namespace, ...denial } of denials) policies.deny(namespace, denial);
  const { verdict } = policies.authorize(makePrincipal('local', 'the caller'), fn, payload);
  const is = verdict === 'deny' ? 'does not offer it' : 'offers it';
  return [{ verdict, rule: `${source}: ${is}`, change: `another list of actions, or another deny, in ${source}` }];
}

function byPolicy(fn: CalledFunction, payload: unknown, { access, grants: { policy } }: ExplainOptions): Check {
  if (policy === undefined) {
    const change = 'name a policy: access.local, or the policy of a token';
    return { verdict: 'allow', rule: 'no policy limits this caller', change };
  }
  const { verdict, rule, reason } = access.decide(policy, fn, payload);
  const added = verdict === 'allow' ? `{ deny: { function: "${fn.id}" } }` : `{ allow: { function: "${fn.id}" } }`;
  return { verdict, rule, reason, change: `at the end of access.policies.${policy}: ${added}` };
}

function byProtect(fn: CalledFunction, payload: unknown, { access, entries }: ExplainOptions): Check[] {
  const { paths } = access.factsOf(fn, payload);
  if (paths === undefined || paths === UNKNOWN) return [];
  const entry = entries.find(({ def }) => def.functions.some(({ id }) => id === fn.id));
  const { protect } = entry?.cell ?? shippedCell;
  if (!entry || protect.length === 0) return [];
  const isProtected = compileProtected([{ globs: protect }]);
  const hit = paths.find(({ path }) => isProtected(path));
  if (!hit) return [{ verdict: 'allow', rule: 'protect: names no path of the call', change: 'add a glob to protect' }];
  const change = `an exception in protect: "!${hit.path}"`;
  return [{ verdict: 'deny', rule: `protect: ${hit.path} looks missing to callers`, change }];
}

async function byShell(fn: CalledFunction, payload: unknown, { entries }: ExplainOptions): Promise<Check[]> {
  const shell = COMMANDS.has(fn.id) ? entries.find(({ def }) => def.name === 'shell') : undefined;
  const check = shell && (await explainCommand(shell.config as Parameters<typeof explainCommand>[0], payload));
  return check ? [check] : [];
}
