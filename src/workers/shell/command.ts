/** Turns a request into a spawnable command: argv, policy, cwd, env, in that order of refusal. */
import type { Bus, CallScope, Door } from '#contract';
import { launchInLayer } from '#fence';
import { Execution, type ChildSpec } from '#host';
import type { TerminalSize } from '#job-functions';
import { toArgv, type Argv } from './argv.ts';
import { callCwd } from './child-cwd.ts';
import { isSettable, withCallVariables } from './child-env.ts';
import { errors, refuse } from './errors.ts';
import type { ExecRequest } from './exec-request.ts';
import { fencedArgv, insideFence, isFenced } from './fenced-command.ts';
import { SandboxProcess } from './sandbox-process.ts';
import { shellLineObjection, type ShellOptions } from './shell-line.ts';
import { requireSandboxes } from './target.ts';
import type { ShellContext } from './worker.ts';

export type Command =
  | { kind: 'host'; argv: Argv; spec: ChildSpec }
  | { kind: 'sandbox'; argv: Argv; sandboxId: string };

/** Program search path without PATH. */
const SYSTEM_PATH = '/bin:/usr/bin';

/** TERM for programs, if the call does not set it. */
const TERMINAL_TYPE = 'xterm-256color';

const HOST_ONLY = ['change', 'cwd', 'env', 'stdin', 'input', 'terminal'] as const;

/** Request fields of jobs. */
interface InputRequest {
  input?: boolean | null | undefined;
  terminal?: TerminalSize | null | undefined;
}

/** Refuses commands that may not or cannot run; nothing has been started yet. */
export async function toCommand(
  request: ExecRequest & InputRequest & { change?: string | null },
  context: ShellContext,
  { door }: Pick<CallScope, 'door'>,
): Promise<Command> {
  const isInside = isFenced(request, context);
  const argv = isInside ? fencedArgv(request) : toArgv(request);
  const isLine = door !== undefined && request.script == null;
  const objection = isLine ? shellLineObjection(request, shellOptions(request, context, isInside)) : undefined;
  if (objection !== undefined) throw refuse(objection);

  if (request.target.kind === 'sandbox') {
    await context.policy.admit(argv, { kind: 'sandbox' }, door);
    requireSandboxes(context.isSandboxEnabled);
    const stray = HOST_ONLY.find((field) => request[field] != null);
    if (stray) throw errors.fail('S210', { problem: `'${stray}' is for host targets only` });
    return { kind: 'sandbox', argv, sandboxId: request.target.sandbox_id };
  }

  const cwd = request.cwd == null ? context.cwd : callCwd(request.cwd, context.cwdJail);
  const { env, ...what } = isInside
    ? await insideFence(request, context)
    : await outside(request, argv, cwd, context, door);
  const { terminal, stdin } = request;
  const spec = {
    ...what,
    cwd,
    env: terminal && request.env?.TERM === undefined ? { ...env, TERM: TERMINAL_TYPE } : env,
    maxOutputBytes: context.maxOutputBytes,
    ...(stdin == null ? {} : { stdin: Buffer.from(stdin) }),
    keepsInput: hasInput(request),
    ...(terminal && { terminal: { columns: terminal.cols, rows: terminal.rows } }),
  };
  return { kind: 'host', argv, spec };
}

/** A command outside of the fence that the policy allows, as the user of the server. */
async function outside(
  request: ExecRequest,
  argv: Argv,
  cwd: string,
  { environment, policy, allowedEnv, layer }: ShellContext,
  door: Door | undefined,
): Promise<Pick<ChildSpec, 'argv' | 'env' | 'launch'>> {
  const target = { kind: 'host' as const, path: environment.PATH ?? SYSTEM_PATH, cwd };
  const program = await policy.admit(argv, target, door);
  const env = withCallVariables(environment, request.env ?? {}, allowedEnv);
  const launch = layer && (await launchInLayer(layer.mounted));
  return { argv: [program, ...argv.slice(1)], env, ...(launch && { launch }) };
}

/** Whether callers may write to the job. */
export function hasInput({ input, terminal }: InputRequest): boolean {
  return input === true || terminal != null;
}

function shellOptions(
  { target }: ExecRequest,
  { policy, allowedEnv }: ShellContext,
  takesScript: boolean,
): ShellOptions {
  if (takesScript) return { hasShell: true, takesScript };
  const maySet = (name: string) => allowedEnv.has(name) && isSettable(name);
  return { hasShell: policy.hasShell, maySet: target.kind === 'host' ? maySet : undefined };
}

/** Timeout of a command in the foreground. */
export function timeoutOf({ timeout_ms }: ExecRequest, { defaultTimeoutMs, maxTimeoutMs }: ShellContext): number {
  return Math.min(timeout_ms ?? defaultTimeoutMs, maxTimeoutMs);
}

type Limits = Pick<ChildSpec, 'timeoutMs' | 'signal' | 'ring' | 'onPiece'>;

/** Starts the command. In a sandbox, the sandbox enforces the timeout. */
export async function startCommand(
  command: Command,
  { timeoutMs, ...limits }: Limits,
  { children, maxOutputBytes, maxTimeoutMs, layer }: ShellContext,
  bus: Bus,
): Promise<Execution> {
  if (command.kind === 'host') {
    layer?.activity.ran(command.argv);
    const execution = await children.start({ ...command.spec, timeoutMs, ...limits });
    const { process } = execution;
    layer?.track({ done: process.done, end: () => process.signal() });
    return execution;
  }
  const isWatched = limits.ring !== undefined || limits.onPiece !== undefined;
  const process = new SandboxProcess(bus, command, { timeoutMs: timeoutMs ?? maxTimeoutMs, isWatched });
  return new Execution(process, { maxOutputBytes, ...limits });
}
