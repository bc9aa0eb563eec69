/** Reads the references of a repository from its files: `HEAD`, `refs/` and `packed-refs`. */
import { lstatSync } from 'node:fs';

import { HostError } from '../../host-error.ts';
import { visitBelow } from '../../jail/jail-list.ts';
import type { Jail } from '../../jail/jail.ts';

/** A hash, or `ref: refs/heads/x` of a symbolic reference. */
export type RefValue = string;

export interface RefFile {
  readonly value: RefValue;
  /** Ctime of the file that holds it. */
  readonly ctimeNs: bigint;
}

const VALUE = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|ref: refs\/[^\x00-\x20]+)$/;
const PACKED = /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/[^\x00-\x20]+)$/;

/** Longer than any value; a larger file is not a reference. */
const MAX_REF_BYTES = 1024;

const NEVER = new AbortController().signal;

/** All references by name. Empty if there is no repository. */
export async function readRefs(jail: Jail, directory: string): Promise<Map<string, RefFile>> {
  const refs = new Map<string, RefFile>();
  const packed = readText(jail, `${directory}/packed-refs`);
  for (const line of packed?.text.split('\n') ?? []) {
    const [, value, name] = PACKED.exec(line) ?? [];
    if (name !== undefined) refs.set(name, { value: value!, ctimeNs: packed!.ctimeNs });
  }
  for (const name of ['HEAD', ...(await namesBelow(jail, directory))]) {
    const found = readText(jail, `${directory}/${name}`, MAX_REF_BYTES);
    const value = found?.text.trim();
    if (value !== undefined && VALUE.test(value)) refs.set(name, { value, ctimeNs: found!.ctimeNs });
  }
  return refs;
}

async function namesBelow(jail: Jail, directory: string): Promise<string[]> {
  const names: string[] = [];
  try {
    using dir = jail.openDir(`${directory}/refs`);
    await visitBelow(dir, { signal: NEVER }, (parent, { name, kind }) => {
      if (kind === 'file' && !name.endsWith('.lock')) names.push(parent.pathOf(name).slice(directory.length + 1));
      return 'go-on';
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
  return names;
}

/** Undefined for a missing file, a large one, and anything that is not a file. */
function readText(jail: Jail, path: string, maxBytes = 64 * 2 ** 20): { text: string; ctimeNs: bigint } | undefined {
  try {
    using entry = jail.entry(path);
    if (!entry.stat?.isFile() || entry.stat.size > maxBytes) return undefined;
    const { ctimeNs } = entry.act((at) => lstatSync(at, { bigint: true }));
    using file = entry.open();
    const bytes = Buffer.alloc(file.size);
    return { text: bytes.subarray(0, file.readAt(bytes, 0)).toString(), ctimeNs };
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
