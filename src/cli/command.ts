/**
 * A command as data: its words, options and examples; parser, help and suggestions derive from it.
 *
 * Usage errors suggest the nearest known name and exit with code 2.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';

import { didYouMean } from '#contract';
import { definitions, paragraphs } from './render.ts';

export interface OptionSpec {
  type: 'string' | 'boolean';
  short?: string;
  /** Placeholder of the value in help, e.g. `FILE`. */
  value?: string;
  description: string;
  default?: string;
  multiple?: boolean;
}

export interface CommandInput {
  words: string[];
  /** After `--`, verbatim. */
  rest: string[];
  options: Record<string, string | boolean | string[] | undefined>;
}

export interface Command {
  /** The words as typed: `start`, `worker run`. */
  name: string;
  /** Set by commands/index.ts, where all names are. */
  aliases?: readonly string[];
  summary: string;
  /** Words after the name in the usage line; options come last unless it contains them. */
  usage?: string;
  details?: string;
  options: Record<string, OptionSpec>;
  examples?: string[];
  /** Minimum number of words. */
  minWords?: number;
  maxWords?: number;
  /** Whether it exits with the code of a program: its own failures then exit with 125 to 127. */
  exitsAsProgram?: boolean;
  /** Whether it prints a failed call as JSON, also without `--json`. */
  isJsonOnly?: boolean;
  run(input: CommandInput): Promise<number>;
  /** Help that depends on the words given; the plain help otherwise. */
  helpFor?(input: CommandInput): Promise<string>;
}

/** An unknown command or option. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option with a value; `value` is its placeholder in the help. */
export function valueOption(
  value: string,
  description: string,
  more: Pick<OptionSpec, 'short' | 'default' | 'multiple'> = {},
): OptionSpec {
  return { type: 'string', value, description, ...more };
}

export const commandHelpOption: OptionSpec = { type: 'boolean', short: 'h', description: 'Show this help.' };

export function parseCommandLine(command: Command, argv: string[]): CommandInput {
  const options = { ...command.options, help: commandHelpOption };
  const split = argv.indexOf('--');
  const own = split < 0 ? argv : argv.slice(0, split);
  const rest = split < 0 ? [] : argv.slice(split + 1);
  const input = { ...parseOwn(own, options, command), rest };
  if (input.options.help === true) return input;

  const { minWords = 0, maxWords = Infinity } = command;
  if (input.words.length < minWords) throw new UsageError(`${command.name} needs ${command.usage ?? 'more words'}`);
  if (input.words.length > maxWords) throw new UsageError(`${command.name} does not take "${input.words[maxWords]}"`);
  return input;
}

function parseOwn(argv: string[], options: Record<string, OptionSpec>, command: Command) {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, short, default: fallback, multiple }]) => [
      name,
      {
        type,
        ...(short ? { short } : {}),
        ...(fallback === undefined ? {} : { default: fallback }),
        multiple: multiple ?? false,
      },
    ]),
  ) as NonNullable<ParseArgsConfig['options']>;
  try {
    const { values, positionals } = parseArgs({ args: argv, options: config, allowPositionals: true, strict: true });
    return { words: positionals, options: values as CommandInput['options'] };
  } catch (error) {
    throw usageProblem(error as NodeJS.ErrnoException, options, command);
  }
}

function usageProblem(error: NodeJS.ErrnoException, options: Record<string, OptionSpec>, command: Command): UsageError {
  if (error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return new UsageError(error.message.split(/\.\s/)[0]);
  const known = Object.keys(options).map((name) => `--${name}`);
  const given = /^Unknown option '(.+?)'/.exec(error.message)?.[1] ?? '';
  return new UsageError(`${command.name} has no option ${given}${didYouMean(given, known)}`);
}

export function commandHelp(command: Command): string {
  const options = Object.entries({ ...command.options, help: commandHelpOption });
  const flags = options.map(([name, spec]) => {
    const short = spec.short ? `-${spec.short}, ` : '    ';
    const value = spec.type === 'string' ? ` ${spec.value ?? 'VALUE'}` : '';
    const fallback = spec.default === undefined ? '' : ` (default ${spec.default})`;
    return [`${short}--${name}${value}`, spec.description + fallback] as const;
  });
  return [
    ...paragraphs(command.summary),
    '',
    `Usage: workcell ${command.name}${usageOf(command)}`,
    ...(command.aliases ? [`Alias: ${command.aliases.join(', ')}`] : []),
    ...(command.details ? ['', ...paragraphs(command.details)] : []),
    '',
    'Options:',
    ...definitions(flags),
    ...(command.examples ? ['', 'Examples:', ...command.examples.map((example) => `  ${example}`)] : []),
    '',
  ].join('\n');
}

function usageOf({ usage = '' }: Command): string {
  const words = usage === '' ? [] : [usage];
  return ['', ...words, ...(usage.includes('[options]') ? [] : ['[options]'])].join(' ');
}
