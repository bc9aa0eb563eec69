/**
 * The environment of a command: the variables the operator lets through, then those of the call.
 *
 * Variables that make programs load or run other code never pass, from either source. PATH decides which program a name
 * stands for and HOME which start-up files it reads, so a call cannot set them; secrets of the server are never passed on.
 */
import { isHijackVariable, isWithheld } from '#host';
import type { ShellConfig } from './config.ts';
import { errors } from './errors.ts';

/** Variables that only the operator decides, and why. */
const NEVER_SET: ReadonlyMap<string, string> = new Map([
  ['PATH', 'it decides which program a name stands for'],
  ['HOME', 'it decides which start-up files programs read'],
]);

export type Environment = Record<string, string>;

/** The environment of every command. */
export function baseEnvironment(
  { inherit_env, allowed_env }: Pick<ShellConfig, 'inherit_env' | 'allowed_env'>,
  own: NodeJS.ProcessEnv,
): Environment {
  const names = inherit_env ? Object.keys(own) : allowed_env;
  const passed = names.filter((name) => own[name] !== undefined && mayPass(name));
  return Object.fromEntries(passed.map((name) => [name, own[name]!]));
}

/** The environment of one command: the base with the variables of its call. */
export function withCallVariables(
  base: Environment,
  variables: Environment,
  allowed: ReadonlySet<string>,
): Environment {
  for (const [name, value] of Object.entries(variables)) {
    const problem = objectionTo(name, value, allowed);
    if (problem !== undefined) throw errors.fail('S210', { problem: `env: ${problem}` });
  }
  return { ...base, ...variables };
}

function objectionTo(name: string, value: string, allowed: ReadonlySet<string>): string | undefined {
  if (!mayPass(name)) return `${name} may not be set: it makes programs run other code or holds a secret`;

  const reason = NEVER_SET.get(name);
  if (reason !== undefined) return `${name} may not be set: ${reason}`;
  if (!allowed.has(name)) return `${name} may not be set; allowed are: ${[...allowed].filter(isSettable).join(', ')}`;
  return value.includes('\0') ? `the value of ${name} holds a NUL character` : undefined;
}

/** Whether a call may set the variable if allowed_env lists it. */
export function isSettable(name: string): boolean {
  return !NEVER_SET.has(name) && mayPass(name);
}

function mayPass(name: string): boolean {
  return !isHijackVariable(name) && !isWithheld(name);
}
