#!/usr/bin/env node
/** argv → command → exit code, nothing else. */
import { CallError, ConfigError, didYouMean } from '#contract';
import { version } from '#version';
import { commandHelp, parseCommandLine, UsageError, type Command } from './command.ts';
import { allCommands, commandNamed, commandNames } from './commands/index.ts';
import { UnreachableError } from './engine-address.ts';
import { EXIT } from './exit-codes.ts';
import { printJson, printText } from './print.ts';

// A closed pipe, such as `head`, ends the printing, not the work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.exitCode = await main(process.argv.slice(2));

async function main(argv: string[]): Promise<number> {
  try {
    const [first] = argv;
    if (first === '--version' || first === '-v' || first === 'version') return print(`${version}\n`);
    if (first === undefined || first === '--help' || first === '-h') return print(await overview());
    if (first === 'help') return argv.length === 1 ? print(await overview()) : await main([...argv.slice(1), '--help']);

    const group = groupOf(first);
    if (group.length > 0 && /^(--help|-h)$/.test(argv[1] ?? '')) return print(await overview(group));
    const { command, rest } = await findCommand(argv);
    const input = parseCommandLine(command, rest);
    if (input.options.help === true && command.helpFor === undefined) return print(commandHelp(command));
    if (input.options.help === true) return print(await command.helpFor!(input));
    return await command.run(input);
  } catch (error) {
    return explain(error);
  }
}

async function findCommand(argv: string[]): Promise<{ command: Command; rest: string[] }> {
  for (const find of [commandNamed, commandCalledAlso]) {
    for (const length of [3, 2, 1]) {
      const typed = argv.slice(0, length).join(' ');
      const command = typed.split(' ').length === length ? await find(typed) : undefined;
      if (command) return { command, rest: argv.slice(length) };
    }
  }
  const group = groupOf(argv[0]!);
  if (group.length > 0) {
    const given = argv[1] && !argv[1].startsWith('-') ? `no "${argv[0]} ${argv[1]}"; ` : '';
    throw new UsageError(`${given}there is: ${group.map((name) => `workcell ${name}`).join(', ')}`);
  }
  const known = commandNames.map((name) => name.split(' ')[0]!);
  throw new UsageError(`no command "${argv[0]}"${didYouMean(argv[0]!, known)}; see workcell --help`);
}

async function commandCalledAlso(name: string): Promise<Command | undefined> {
  return (await allCommands()).find(({ aliases }) => aliases?.includes(name));
}

/** The two-word commands that begin with this word. */
function groupOf(word: string): string[] {
  return commandNames.filter((name) => name.startsWith(`${word} `));
}

async function overview(names: readonly string[] = commandNames): Promise<string> {
  const shown = (await allCommands()).filter(({ name }) => names.includes(name));
  const width = Math.max(...names.map((name) => name.length));
  return [
    `workcell ${version}: the fenced cell in which AI agents work on a real computer.`,
    '',
    'Usage: workcell <command> [options]',
    '',
    ...shown.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'workcell <command> --help says more about one.',
    'Exit codes: 0 done, 1 the call failed, 2 bad usage or configuration, 3 no engine reached.',
    '',
  ].join('\n');
}

function explain(error: unknown): number {
  if (error instanceof UsageError || error instanceof ConfigError) return complain(error.message, EXIT.usage);
  if (error instanceof UnreachableError) return complain(error.message, EXIT.unreachable);
  if (error instanceof CallError) {
    const { code, message, extra } = error;
    printJson({ code, message, ...extra }, process.stderr);
    return EXIT.failed;
  }
  return complain(error instanceof Error ? (error.stack ?? error.message) : String(error), EXIT.failed);
}

function complain(message: string, exitCode: number): number {
  printText(`Error: ${message}\n`, process.stderr);
  return exitCode;
}

function print(text: string): number {
  printText(text);
  return EXIT.ok;
}
