/** workcell change diff: prints the edits of a change. */
import { z } from 'zod';

import type { Bus } from '#contract';
import type { Colour } from '../../colour.ts';
import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printJson, printLines } from '../../print.ts';
import { CLI } from './call.ts';

const FileRow = z.object({
  path: z.string(),
  kind: z.string(),
  from: z.string().optional(),
  old_mode: z.string().optional(),
  new_mode: z.string().optional(),
  new_target: z.string().optional(),
  binary: z.boolean().optional(),
  too_large: z.boolean().optional(),
  is_directory: z.boolean().optional(),
  size: z.number().optional(),
  unified: z.string().optional(),
});

const Reply = z.object({
  summary: z.record(z.string(), z.number()),
  deleted: z.array(z.string()),
  files: z.array(FileRow),
  trees: z.array(z.object({ path: z.string(), files: z.number(), bytes: z.number() })),
  left_out: z.array(z.object({ path: z.string(), why: z.string() })),
  git: z.array(
    z.object({
      repo: z.string(),
      objects: z.number(),
      refs: z.array(z.object({ name: z.string(), from: z.string().nullable(), to: z.string().nullable() })),
    }),
  ),
  conflicts: z.array(z.object({ path: z.string(), kind: z.string(), hunk: z.string().optional() })),
  commands: z.array(z.object({ command: z.string() })),
  hosts: z.array(z.object({ host: z.string(), verdict: z.string() })),
  version: z.string(),
  truncated: z.boolean(),
  next_after: z.string().optional(),
});

type Diff = z.output<typeof Reply>;
interface Line {
  text: string;
  colour?: Colour;
}

export const changeDiff: Command = {
  name: 'change diff',
  summary: 'Show the edits of a change: every deletion first, then each file with its changed lines.',
  usage: 'CHANGE [PATH…]',
  options: {
    names: { type: 'boolean', description: 'Show one line per file, without the changed lines.' },
    json: { type: 'boolean', description: 'Print the first page of the reply as JSON.' },
    ...addressOptions,
  },
  minWords: 1,

  async run({ words: [change, ...paths], options }) {
    const asked = { change, text: options.names !== true, ...(paths.length > 0 && { paths }) };
    await withEngine(options, async (bus) => {
      if (options.json === true) return printJson(await bus.call('change::diff', asked, CLI));
      await printPages(bus, asked);
    });
    return EXIT.ok;
  },
};

async function printPages(bus: Pick<Bus, 'call'>, asked: object): Promise<void> {
  for (let after: string | undefined, isFirst = true; ; isFirst = false) {
    const request = { ...asked, ...(after !== undefined && { after }) };
    const page = Reply.parse(await bus.call('change::diff', request, CLI));
    if (isFirst) printLines(headOf(page));
    printLines(page.files.flatMap((file) => fileLines(file, page)));
    after = page.next_after;
    if (!page.truncated) return;
  }
}

/** Warnings that come before any diff. */
function headOf({ summary, deleted, left_out, git, conflicts, commands, hosts, version }: Diff): Line[] {
  const counts = Object.entries(summary).flatMap(([name, count]) =>
    count > 0 && name !== 'bytes' ? [`${count} ${name}`] : [],
  );
  const hidden = (summary.deleted ?? 0) - deleted.length;
  return [
    { text: counts.join(', ') || 'No changes.', colour: 'bold' },
    ...deleted.map((path): Line => ({ text: `  deleted ${path}`, colour: 'red' })),
    ...(hidden > 0 ? [{ text: `  and ${hidden} more deletions`, colour: 'red' } as const] : []),
    ...conflicts.flatMap(({ path, kind, hunk }): Line[] => [
      { text: `  conflict ${path} (${kind})`, colour: 'yellow' },
      ...(hunk?.trimEnd().split('\n') ?? []).map((text) => ({ text: `    ${text}` })),
    ]),
    ...left_out.map(({ path, why }): Line => ({ text: `  left out ${path} (${why})`, colour: 'yellow' })),
    ...git.flatMap(({ repo, objects, refs }) => [
      { text: `  git ${repo || '.'}: ${objects} new objects` },
      ...refs.map(({ name, from, to }) => ({ text: `    ${name} ${short(from)} -> ${short(to)}` })),
    ]),
    ...commands.map(({ command }) => ({ text: `  ran ${command.replaceAll('\n', '\n      ')}` })),
    ...hosts.map(({ host, verdict }) => ({ text: `  asked for ${host} (${verdict})` })),
    { text: `  version ${version}`, colour: 'dim' },
  ];
}

function short(value: string | null): string {
  return value === null ? '(none)' : value.startsWith('ref: ') ? value : value.slice(0, 12);
}

function fileLines(file: z.output<typeof FileRow>, { trees }: Diff): Line[] {
  if (file.kind === 'deleted') return [];
  const { path, kind, from, old_mode, new_mode, new_target } = file;
  const tree = trees.find((one) => one.path === path);
  const facts = [
    tree && `${tree.files} files, ${tree.bytes} bytes`,
    old_mode && `mode ${old_mode} -> ${new_mode}`,
    new_target && `-> ${new_target}`,
    file.binary && `binary, ${file.size} bytes`,
    file.too_large && 'too large to show',
    file.is_directory && 'folder',
  ].filter(Boolean);
  const head = `${kind} ${from === undefined ? '' : `${from} -> `}${path}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`;
  const lines = file.unified?.trimEnd().split('\n').slice(2) ?? [];
  return [{ text: head, colour: 'bold' }, ...lines.map((text): Line => ({ text, ...colourOf(text) }))];
}

function colourOf(line: string): { colour?: Colour } {
  if (line.startsWith('+')) return { colour: 'green' };
  if (line.startsWith('-')) return { colour: 'red' };
  return line.startsWith('@@') ? { colour: 'dim' } : {};
}
