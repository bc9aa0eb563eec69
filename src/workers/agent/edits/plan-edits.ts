/** Makes the edits of a call in memory, and collects everything that is wrong with them. */
import { Failure, type CallScope } from '#contract';
import { HostError } from '#host';
import { translate } from '../errors.ts';
import { findFiles } from '../find-files.ts';
import { globList, inWorkspace, isGlob, wholeGlob } from '../paths.ts';
import type { AgentContext } from '../worker.ts';
import type { EditedFile, EditedFiles } from './edited-files.ts';
import { describeMiss } from './describe-miss.ts';

export interface Edit {
  readonly path: string;
  readonly old: string;
  readonly new: string;
  readonly all?: boolean | undefined;
  readonly except?: string | undefined;
}

interface Around {
  readonly context: AgentContext;
  readonly scope: CallScope;
}

/** Most line numbers that a refusal lists. */
const MOST_LINES = 8;

/** The problems of all edits, in their order; empty if all were made. */
export async function planEdits(edits: readonly Edit[], files: EditedFiles, around: Around): Promise<string[]> {
  const problems: string[] = [];
  for (const [i, edit] of edits.entries()) {
    const problem = await planEdit(edit, files, around);
    if (problem !== undefined) problems.push(edits.length > 1 ? `edit ${i + 1}: ${problem}` : problem);
  }
  return problems;
}

async function planEdit(edit: Edit, files: EditedFiles, around: Around): Promise<string | undefined> {
  if (edit.old === '') return `${edit.path}: old is empty; send the text to replace, or use write for a new file`;
  if (edit.old === edit.new) return `${edit.path}: old and new are equal`;
  try {
    return isGlob(edit.path) && !isThere(edit.path, around)
      ? await inAll(edit, files, around)
      : await inOne(edit, files, around);
  } catch (error) {
    const failure =
      error instanceof Failure ? error : translate(error, { context: around.context, door: around.scope.door });
    if (!failure) throw error;
    return failure.message;
  }
}

async function inOne(edit: Edit, files: EditedFiles, { context, scope }: Around): Promise<string | undefined> {
  if (edit.except !== undefined) return `${edit.path}: except belongs to a glob`;
  return replace(edit, await files.open(inWorkspace(edit.path, context)), scope);
}

/** Every file that matches the glob and has the text. */
async function inAll(edit: Edit, files: EditedFiles, { context, scope }: Around): Promise<string | undefined> {
  if (!edit.all) return `${edit.path} is a glob: send all: true to change every occurrence in every file`;
  const anchor = edit.old.split(/\r?\n/).reduce((best, line) => (line.length > best.length ? line : best), '');
  const wish = { include: [wholeGlob(edit.path, context)], exclude: globList(edit.except, context) };
  const { paths } = await findFiles({ ...wish, ...(anchor !== '' && { containing: anchor }) }, context, scope);
  let count = 0;
  for (const path of paths) {
    const file = await files.open(path);
    if (!file.text.includes(asIn(file, edit.old))) continue;
    await replace(edit, file, scope);
    count++;
  }
  return count === 0 ? `no file that matches ${edit.path} has the text` : undefined;
}

async function replace(edit: Edit, file: EditedFile, scope: CallScope): Promise<string | undefined> {
  const old = asIn(file, edit.old);
  const parts = file.text.split(old);
  const count = parts.length - 1;
  if (count === 0) return describeMiss(file, edit.old, scope);
  if (count > 1 && !edit.all) {
    const lines = startLines(parts, old).slice(0, MOST_LINES);
    const where = `${lines.join(', ')}${count > lines.length ? ' …' : ''}`;
    return `${file.path}: the text is there ${count} times, at lines ${where}; send more of the text around it, or all: true`;
  }
  file.text = parts.join(asIn(file, edit.new));
  file.count += count;
  return undefined;
}

/** Replaces plain newlines of a caller by the line endings of the file. */
function asIn(file: EditedFile, text: string): string {
  return file.isCrlf && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text;
}

/** The lines where each occurrence begins. */
function startLines(parts: readonly string[], old: string): number[] {
  const inOld = newlinesIn(old);
  let line = 1;
  return parts.slice(0, -1).map((part, i) => {
    line += newlinesIn(part) + (i > 0 ? inOld : 0);
    return line;
  });
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}

/** A file may have a name like a glob. */
function isThere(path: string, { context }: Around): boolean {
  try {
    using entry = context.jail.entry(inWorkspace(path, context));
    return entry.stat !== undefined;
  } catch (error) {
    if (error instanceof HostError) return false;
    throw error;
  }
}
