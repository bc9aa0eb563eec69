import { describe, expect, test } from 'vitest';

import { commandHelp, parseCommandLine, type Command } from './command.ts';
import { allCommands, commandNames } from './commands/index.ts';

const commands = await allCommands();

const dig: Command = {
  name: 'dig',
  aliases: ['delve', 'mine'],
  summary: 'Dig a hole.',
  usage: '<place> [depth]',
  details: 'Holes stay open.',
  options: {
    spade: { type: 'string', short: 's', value: 'KIND', description: 'What to dig with.', default: 'steel' },
    dry: { type: 'boolean', description: 'Only say what would happen.' },
    helper: { type: 'string', multiple: true, description: 'Another digger.' },
  },
  examples: ['workcell dig garden'],
  minWords: 1,
  maxWords: 2,
  run: () => Promise.resolve(0),
};
const parse = (...argv: string[]) => parseCommandLine(dig, argv);

describe('parsing', () => {
  test.each([
    ['words and defaults', ['here'], { words: ['here'], rest: [], options: { spade: 'steel' } }],
    [
      'options anywhere',
      ['--dry', 'here', '-s', 'wood', '2'],
      { words: ['here', '2'], rest: [], options: { spade: 'wood', dry: true } },
    ],
    ['a value after =', ['here', '--spade=a=b'], { words: ['here'], rest: [], options: { spade: 'a=b' } }],
    [
      'the last of a repeated option',
      ['here', '-s', 'x', '-s', 'y'],
      { words: ['here'], rest: [], options: { spade: 'y' } },
    ],
    [
      'all of a repeatable option',
      ['here', '--helper', 'x', '--helper=y'],
      { words: ['here'], rest: [], options: { spade: 'steel', helper: ['x', 'y'] } },
    ],
    [
      'what follows -- as it stands',
      ['here', '--', '--dry', '-x', '--'],
      { words: ['here'], rest: ['--dry', '-x', '--'], options: { spade: 'steel' } },
    ],
    ['help without the words it needs', ['-h'], { words: [], rest: [], options: { spade: 'steel', help: true } }],
  ])('takes %s', (_, argv, input) => {
    expect(parse(...argv)).toEqual(input);
  });

  test.each([
    ['an unknown option with the nearest', ['here', '--spad=x'], 'dig has no option --spad (did you mean "--spade"?)'],
    ['an unknown option that resembles nothing', ['here', '--unicorn'], 'dig has no option --unicorn'],
    ['an unknown letter', ['here', '-x'], 'dig has no option -x'],
    ['an unknown letter among others', ['here', '-xs', 'wood'], 'dig has no option -x'],
    ['an option without its value', ['here', '--spade'], "Option '-s, --spade <value>' argument missing"],
    ['a value that looks like an option', ['here', '--spade', '-1'], "Option '--spade' argument is ambiguous"],
    ['a value where none belongs', ['here', '--dry=yes'], "Option '--dry' does not take an argument"],
    ['too few words', [], 'dig needs <place> [depth]'],
    ['words that are all after --', ['--', 'here'], 'dig needs <place> [depth]'],
    ['too many words', ['a', 'b', 'c'], 'dig does not take "c"'],
  ])('refuses %s', (_, argv, message) => {
    expect(() => parse(...argv)).toThrow(expect.objectContaining({ name: 'UsageError', message }));
  });
});

describe('help', () => {
  test('shows everything in the definition', () => {
    expect(commandHelp(dig)).toBe(`Dig a hole.

Usage: workcell dig <place> [depth] [options]
Alias: delve, mine

Holes stay open.

Options:
  -s, --spade KIND    What to dig with. (default steel)
      --dry           Only say what would happen.
      --helper VALUE  Another digger.
  -h, --help          Show this help.

Examples:
  workcell dig garden
`);
  });

  test('requires only a summary', () => {
    expect(commandHelp({ name: 'rest', summary: 'Rest.', options: {}, run: () => Promise.resolve(0) })).toBe(`Rest.

Usage: workcell rest [options]

Options:
  -h, --help  Show this help.
`);
  });

  test.each(commands.map((command) => [command.name, command] as const))(
    '%s has an example that it can parse',
    (_, command) => {
      const lines = (command.examples ?? []).map((line) => line.replace(`workcell ${command.name}`, '').trim());
      const words = lines.map((line) =>
        [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
      );
      for (const argv of words) expect(() => parseCommandLine(command, argv)).not.toThrow();
      expect(command.summary).toMatch(/\.$/);
    },
  );
});

test('every command is listed under its own name', () => {
  expect(commands.map(({ name }) => name)).toEqual(commandNames);
});
