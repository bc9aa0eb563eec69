/**
 * The workspace as it will be after the planned steps of an undo, so that all steps are checked before the first is made.
 *
 * A path that no step touches is read from the workspace, a path that a step restores from the store, and a path that a
 * step moves from its current path.
 */
import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';

import { versionOf } from '../../changes/jail-version.ts';
import { sumBelow } from '../../changes/tree-sum.ts';
import { HostError } from '../../host-error.ts';
import type { Jail } from '../../jail/jail.ts';
import { stateOfStat } from '../open-record.ts';
import { ABSENT, type State } from '../records.ts';
import type { ImageStore } from '../store.ts';
import { toText } from '../../text/byte-string.ts';
import { PathNodes } from './path-nodes.ts';

/** Where a file or directory is now: a path in the workspace or in the trees of the store. */
type NodeSource = { readonly in: 'workspace' | 'trees'; readonly path: string };

type Node = { readonly state: State; readonly content?: Buffer } | { readonly source: NodeSource };

/** State of a path after the planned steps. */
export interface Found {
  readonly state: State;
  /** Stat of the file in the workspace, if no step restores the path. */
  readonly stat?: Stats;
  readonly read: () => Promise<Buffer>;
}

export class VirtualTree {
  readonly #jail: Jail;
  readonly #store: ImageStore;
  readonly #nodes = new PathNodes<Node>();

  constructor(jail: Jail, store: ImageStore) {
    this.#jail = jail;
    this.#store = store;
  }

  set(path: string, state: State): void {
    this.#nodes.takeBelow(path);
    const isTree = state.kind === 'directory' && state.tree !== undefined;
    this.#nodes.set(path, isTree ? { source: { in: 'trees', path: state.tree } } : { state });
  }

  /** Sets a file to a content that is in no image, such as that of a merge. */
  setContent(path: string, state: State, content: Buffer): void {
    this.#nodes.set(path, { state, content });
  }

  move(from: string, to: string): void {
    const node = this.#nodeAt(from);
    const below = this.#nodes.takeBelow(from);
    this.#nodes.set(from, { state: ABSENT });
    this.#nodes.takeBelow(to);
    this.#nodes.set(to, node);
    for (const [path, kept] of below) this.#nodes.set(to + path.slice(from.length), kept);
  }

  find(path: string): Found {
    const node = this.#nodeAt(path);
    if ('source' in node)
      return node.source.in === 'workspace' ? this.#inWorkspace(node.source.path) : this.#inTrees(node.source.path);
    const { state, content } = node;
    const image = state.kind === 'file' ? state.image : undefined;
    return { state, read: async () => content ?? (image === undefined ? EMPTY : this.#store.read(image)) };
  }

  /** True if the planned steps leave a directory of the workspace empty. */
  isEmptied(path: string): boolean {
    const node = this.#nodeAt(path);
    if (!('source' in node) || node.source.in !== 'workspace') return false;
    using dir = this.#jail.openDir(node.source.path);
    const names = [...dir.allNames()].flat().map((name) => toText(name));
    const children = new Set([...names, ...this.#nodes.namesIn(path)]);
    return [...children].every((name) => this.find(`${path}/${name}`).state.kind === 'absent');
  }

  /** Sum of a directory of the workspace (`TreeSum`); undefined if a step changes it or a path below. */
  async contentsOf(path: string, scope: { readonly signal: AbortSignal }): Promise<string | undefined> {
    const node = this.#nodeAt(path);
    if (this.#nodes.hasBelow(path) || !('source' in node) || node.source.in !== 'workspace') return undefined;
    using dir = this.#jail.openDir(node.source.path);
    return await sumBelow(dir, scope);
  }

  #nodeAt(path: string): Node {
    const exact = this.#nodes.get(path);
    if (exact) return exact;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const above = this.#nodes.get(path.slice(0, end));
      if (!above) continue;
      if ('source' in above) return { source: { ...above.source, path: above.source.path + path.slice(end) } };
      // A directory that a step creates is empty.
      return { state: ABSENT };
    }
    return { source: { in: 'workspace', path } };
  }

  #inWorkspace(path: string): Found {
    using entry = this.#jail.entry(path);
    // A path through a symlink names another file, even if that is inside the root.
    if (this.#jail.spell(entry) !== path) throw new HostError('escape', path);
    const { stat } = entry;
    if (!stat) return { state: ABSENT, read: async () => EMPTY };
    const state = stat.isSymbolicLink()
      ? ({ kind: 'link', to: entry.act((at) => readlinkSync(at, 'latin1')) } as const)
      : stateOfStat(stat);
    return {
      state,
      stat,
      read: async () => {
        using file = this.#jail.open(path);
        return await file.read();
      },
    };
  }

  #inTrees(path: string): Found {
    const [tree, ...rest] = path.split('/');
    const at = [this.#store.pathOf('trees', tree!), ...rest].join('/');
    const stat = lstatSync(at, { throwIfNoEntry: false });
    return { state: stat ? stateOfStat(stat) : ABSENT, read: async () => readFileSync(at) };
  }
}

const EMPTY = Buffer.alloc(0);

export async function versionIn({ state, read }: Found): Promise<string | undefined> {
  if (state.kind !== 'file') return undefined;
  return state.version ?? versionOf(await read());
}
