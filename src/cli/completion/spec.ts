/** The command definitions as completion scripts need them: the next words for each sequence of words. */
import { commandHelpOption, type Command, type OptionSpec } from '../command.ts';
import { visible } from '../render.ts';

export type Takes = 'file' | 'directory' | 'word' | undefined;

export interface CompletedOption {
  long: string;
  short?: string | undefined;
  takes: Takes;
  isRepeatable: boolean;
  says: string;
}

/** Completions of these words: more words, or options. */
export interface CommandNode {
  /** The words before, joined by blanks; empty for `workcell` alone. */
  path: string;
  next: { word: string; says: string }[];
  options: CompletedOption[];
  /** Whether words that follow are names of files; of other things no shell knows the names. */
  hasFiles: boolean;
}

const FILES = /\b(FILE|PATH|ARCHIVE|LOCAL|local|file|path|archive)\b/;

export function commandNodes(commands: readonly Command[]): CommandNode[] {
  const nodes = new Map<string, CommandNode>();
  const nodeAt = (path: string): CommandNode => {
    const known = nodes.get(path) ?? { path, next: [], options: [], hasFiles: false };
    nodes.set(path, known);
    return known;
  };
  for (const command of commands) {
    for (const name of [command.name, ...(command.aliases ?? [])]) {
      const words = name.split(' ');
      for (const [at, word] of words.entries()) {
        const { next } = nodeAt(words.slice(0, at).join(' '));
        const isWhole = at === words.length - 1;
        const known = next.find((one) => one.word === word);
        if (!known) next.push({ word, says: isWhole ? visible(command.summary) : `Commands of ${word}.` });
        else if (isWhole) known.says = visible(command.summary);
      }
      const node = nodeAt(name);
      node.options = Object.entries({ ...command.options, help: commandHelpOption }).map(completed);
      node.hasFiles = FILES.test(command.usage ?? '');
    }
  }
  return [...nodes.values()];
}

function completed([long, spec]: [string, OptionSpec]): CompletedOption {
  return {
    long,
    short: spec.short,
    takes: takes(spec),
    isRepeatable: spec.multiple === true,
    says: visible(spec.description),
  };
}

function takes({ type, value }: OptionSpec): Takes {
  if (type === 'boolean') return undefined;
  if (value === 'FILE') return 'file';
  return value === 'DIR' ? 'directory' : 'word';
}
