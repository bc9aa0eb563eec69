/**
 * Decides whether a command may run: the allowlist, then the denylist, then the rules, all on the final argv.
 *
 * Applies to sandbox targets too. None of it is a security boundary: a program that can start others can start any.
 */
import { basename } from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { ConfigError, type Door } from '#contract';
import { compileRegex, RegexError, type Regex } from '#host';
import type { Argv } from '../argv.ts';
import { configSchema, type ShellConfig } from '../config.ts';
import { refuse } from '../errors.ts';
import { entryOnPath, findOnPath, liesIn, looksInto, type Lookup } from './program-path.ts';
import { compileRules, objectionTo } from './rules.ts';

/** Location where the command will run. */
export type RunTarget = ({ kind: 'host' } & Lookup) | { kind: 'sandbox' };

/** A slow pattern takes some milliseconds for this much; longer lines yield between patterns. */
const LONG_LINE_BYTES = 16_384;

/** Programs named in a refusal. */
const MOST_NAMED = 40;

interface Compiled {
  readonly denied: readonly Regex[];
  readonly rules: ReturnType<typeof compileRules>;
}

const shipped = configSchema.parse({});

/**
 * Skips the check of shipped patterns at the start, which would take half of a start; patterns of the operator are
 * checked.
 */
function isShipped({ denylist_patterns, rules }: Pick<ShellConfig, 'denylist_patterns' | 'rules'>): boolean {
  return isDeepStrictEqual(
    { denylist_patterns, rules },
    { denylist_patterns: shipped.denylist_patterns, rules: shipped.rules },
  );
}

export class CommandPolicy {
  readonly #allowed: ReadonlySet<string>;
  readonly #compile: () => Compiled;
  #compiled: Compiled | undefined;
  readonly #writableRoot: string | undefined;

  /** `writableRoot` is the canonical directory that agents write in, if there is one. */
  constructor(config: Pick<ShellConfig, 'allowlist' | 'denylist_patterns' | 'rules'>, writableRoot?: string) {
    this.#allowed = new Set(config.allowlist);
    this.#compile = () => ({
      denied: config.denylist_patterns.map(compileDenial),
      rules: compileRules(config.rules),
    });
    this.#writableRoot = writableRoot;
    if (!isShipped(config)) this.#compiled = this.#compile();
  }

  get #patterns(): Compiled {
    return (this.#compiled ??= this.#compile());
  }

  /** Whether the allowlist has a shell, so that a line for one could run. */
  get hasShell(): boolean {
    return this.#allowed.size === 0 || this.#allowed.has('sh');
  }

  /** Returns the program to start; refuses commands that may not run. Through a surface the refusal lists the allowed ones. */
  async admit(argv: Argv, target: RunTarget, door?: Door): Promise<string> {
    const program = this.#allowed.size === 0 ? argv[0] : this.#allow(argv[0], target, door ? this.#whatMayRun() : '');
    await this.#refuseDenied(argv);
    const objection = objectionTo(argv, this.#patterns.rules);
    if (objection !== undefined) throw refuse(objection);
    return program;
  }

  async #refuseDenied(argv: Argv): Promise<void> {
    const line = Buffer.from(argv.join(' '));
    for (const regex of this.#patterns.denied) {
      if (regex.isMatch(line)) throw refuse(`command matches denylist: ${regex.source}`);
      if (line.length > LONG_LINE_BYTES) await othersTurn();
    }
  }

  #allow(given: string, target: RunTarget, help: string): string {
    const name = basename(given);
    const isPath = name !== given;
    if (isPath && this.#allowed.has(given)) return given;
    if (!this.#allowed.has(name)) throw refuse(`command '${name}' not in allowlist${help}`);
    // A guest controls its own files, so only the name can be checked.
    if (target.kind === 'sandbox') return given;
    return isPath ? this.#byPath(given, target, help) : this.#byName(name, target);
  }

  #whatMayRun(): string {
    const names = [...this.#allowed];
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
    return `; allowed are ${names.slice(0, MOST_NAMED).join(', ')}${more}, and the operator can add to shell.allowlist`;
  }

  #byName(name: string, lookup: Lookup): string {
    const found = findOnPath(name, lookup);
    if (found !== undefined) this.#refuseWritable(found);
    if (this.#writableRoot === undefined || !looksInto(this.#writableRoot, lookup)) return name;

    // Started by its path: an agent could put another program of that name on PATH meanwhile.
    if (found === undefined) throw refuse(`command '${name}' not found on PATH: install it`);
    return found;
  }

  #byPath(given: string, lookup: Lookup, help: string): string {
    const entry = entryOnPath(given, lookup);
    const problem = `command '${basename(given)}' not in allowlist by a path other than PATH's`;
    if (entry === undefined) throw refuse(problem + help);
    this.#refuseWritable(entry);
    return entry;
  }

  #refuseWritable(file: string): void {
    if (this.#writableRoot === undefined || !liesIn(this.#writableRoot, file)) return;
    throw refuse(`command '${basename(file)}' not in allowlist: PATH finds it in fs.host_root, where agents write`);
  }
}

function compileDenial(pattern: string, index: number): Regex {
  try {
    return compileRegex(pattern);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new ConfigError(`shell.denylist_patterns[${index}]: ${error.message}`, { cause: error });
  }
}
