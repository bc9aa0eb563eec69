/** The default block of a worker as YAML with comments, and how it is added to a configuration file. */
import { isMap, isNode, isSeq, parseDocument, stringify, type Document, type YAMLSeq } from 'yaml';

import { ConfigError, configKeys, type AnyWorker } from '#contract';

const WIDTH = 100;

/** The YAML of one worker: `- name: coder` with every key, its default, and its description. */
export function defaultBlock(def: AnyWorker): string {
  const lines = configKeys(def.config).flatMap(({ key, description, default: value }) => [
    ...wrap(description, WIDTH).map((line) => `# ${line}`),
    ...stringify({ [key]: def.shippedBlock[key] ?? value ?? null })
      .trimEnd()
      .split('\n'),
  ]);
  return [`- name: ${def.name}`, '  config:', ...lines.map((line) => `    ${line}`)].join('\n');
}

/** The text of a file with the worker's default block added; undefined when it is listed already. */
export function withWorkerAdded(text: string, def: AnyWorker): string | undefined {
  const document: Document = parseDocument(text);
  if (document.errors.length > 0) throw new ConfigError(`config: ${document.errors[0]!.message}`);
  document.contents ??= document.createNode({});
  if (!isMap(document.contents)) throw new ConfigError('config: the file must hold a map with the key "workers"');

  const workers = listIn(document);
  const isListed = workers.items.some((item) => isMap(item) && item.get('name') === def.name);
  if (isListed) return undefined;

  document.contents.flow = false;
  workers.flow = false;
  const block = parseDocument(defaultBlock(def)).contents;
  if (isSeq(block)) workers.items.push(...block.items);
  return document.toString({ lineWidth: 0 });
}

/** The list under `workers`, created if missing. */
function listIn(document: Document): YAMLSeq {
  const given = document.get('workers', true);
  if (isSeq(given)) return given;
  if (isNode(given) && given.toJSON() !== null) throw new ConfigError('config: "workers" must be a list');

  const list = document.createNode([]);
  if (isNode(given)) list.commentBefore = given.comment;
  document.set('workers', list);
  return list;
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1)!;
    if (line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.filter((line) => line !== '');
}
