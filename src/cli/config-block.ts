/** The default block of a worker as YAML with its comments, and its place in a configuration file. */
import { Document, isMap, isSeq, parseDocument, stringify, type YAMLSeq } from 'yaml';

import { ConfigError, configKeys, type AnyWorker } from '#contract';

const WIDTH = 100;

/** `- name: coder` with every key, its default, and what it means. */
export function defaultBlock(def: AnyWorker): string {
  const lines = configKeys(def.config).flatMap(({ key, description, default: value }) => [
    ...wrap(description, WIDTH).map((line) => `# ${line}`),
    ...stringify({ [key]: value ?? null })
      .trimEnd()
      .split('\n'),
  ]);
  return [`- name: ${def.name}`, '  config:', ...lines.map((line) => `    ${line}`)].join('\n');
}

/** The text of a file with the worker's default block added; undefined when it is listed already. */
export function withWorkerAdded(text: string, def: AnyWorker): string | undefined {
  const document = text.trim() === '' ? new Document({ workers: [] }) : parseDocument(text);
  if (document.errors.length > 0) throw new ConfigError(`config: ${document.errors[0]!.message}`);
  if (!isMap(document.contents)) throw new ConfigError('config: the file must hold a map with the key "workers"');

  if (!isSeq(document.get('workers'))) document.set('workers', document.createNode([]));
  const workers = document.get('workers') as YAMLSeq;
  const isListed = workers.items.some((item) => isMap(item) && item.get('name') === def.name);
  if (isListed) return undefined;

  workers.flow = false;
  const block = parseDocument(defaultBlock(def)).contents;
  if (isSeq(block)) workers.items.push(...block.items);
  return document.toString({ lineWidth: 0 });
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.filter((line) => line !== '');
}
