/** argv → command → exit code: finds the command, prints help, and prints failures in their one shape. */
import { CallError, ConfigError, didYouMean } from '#contract';
import { version } from '#version';
import { commandHelp, parseCommandLine, UsageError, type Command, type CommandInput } from './command.ts';
import { allCommands, AMBIGUOUS, commandNamed, commandNames, nameOf } from './commands/index.ts';
import { UnreachableError } from './engine-address.ts';
import { EXIT, EXIT_CODES, exitCodeNotRun } from './exit-codes.ts';
import { printFailure, printJson, printText } from './print.ts';
import { definitions, paragraphs } from './render.ts';

/** Parsed part of the command line, for the report of a failure. */
interface Typed {
  command?: Command;
  input?: CommandInput;
}

export async function run(argv: string[]): Promise<number> {
  const typed: Typed = {};
  try {
    const [first] = argv;
    if (first === undefined || first === '--help' || first === '-h') return print(await overview());
    if (first === 'help') return argv.length === 1 ? print(await overview()) : await run([...argv.slice(1), '--help']);

    const group = groupOf(first);
    if (group.length > 0 && /^(--help|-h)$/.test(argv[1] ?? '')) return print(await overview(group));
    const { command, rest } = await findCommand(argv);
    typed.command = command;
    const input = parseCommandLine(command, rest);
    typed.input = input;
    if (input.options.help === true && command.helpFor === undefined) return print(commandHelp(command));
    if (input.options.help === true) return print(await command.helpFor!(input));
    return await command.run(input);
  } catch (error) {
    return explain(error, typed);
  }
}

async function findCommand(argv: string[]): Promise<{ command: Command; rest: string[] }> {
  for (const length of [3, 2, 1]) {
    const words = argv.slice(0, length);
    const command = words.length === length ? await commandNamed(nameOf(words.join(' '))) : undefined;
    if (command) return { command, rest: argv.slice(length) };
  }
  const [first] = argv as [string];
  const meanings = AMBIGUOUS.get(first);
  if (meanings !== undefined) throw new UsageError(`"${first}" may mean either of two:\n${meanings.join('\n')}`);

  const group = groupOf(first);
  if (group.length > 0) {
    const given = argv[1] && !argv[1].startsWith('-') ? `no "${first} ${argv[1]}"; ` : '';
    throw new UsageError(`${given}there is: ${group.map((name) => `workcell ${name}`).join(', ')}`);
  }
  const known = commandNames.map((name) => name.split(' ')[0]!);
  throw new UsageError(`no command "${first}"${didYouMean(first, known)}; see workcell --help`);
}

/** The two-word commands that begin with this word. */
function groupOf(word: string): string[] {
  return commandNames.filter((name) => name.startsWith(`${word} `));
}

async function overview(names: readonly string[] = commandNames): Promise<string> {
  const shown = (await allCommands()).filter(({ name }) => names.includes(name));
  return [
    `workcell ${version}: the fenced cell in which AI agents work on a real computer.`,
    '',
    'Usage: workcell <command> [options]',
    '',
    ...definitions(shown.map(({ name, summary }) => [name, summary])),
    '',
    'workcell <command> --help says more about one.',
    ...paragraphs(EXIT_CODES),
    '',
  ].join('\n');
}

function explain(error: unknown, { command, input }: Typed): number {
  report(error, command?.isJsonOnly === true || input?.options.json === true);
  if (command?.exitsAsProgram === true) return exitCodeNotRun(error);
  if (error instanceof UsageError || error instanceof ConfigError) return EXIT.usage;
  return error instanceof UnreachableError ? EXIT.unreachable : EXIT.failed;
}

function report(error: unknown, isJson: boolean): void {
  if (error instanceof CallError) {
    const { code, message, extra } = error;
    if (isJson) printJson({ code, message, ...extra }, process.stderr);
    else printFailure({ code, message, help: typeof extra.fix_note === 'string' ? [extra.fix_note] : [] });
    return;
  }
  if (error instanceof ConfigError) return printFailure(error);
  const isExpected = error instanceof UsageError || error instanceof UnreachableError;
  const message = error instanceof Error ? (!isExpected && error.stack) || error.message : String(error);
  printFailure({ message });
}

function print(text: string): number {
  printText(text);
  return EXIT.ok;
}
