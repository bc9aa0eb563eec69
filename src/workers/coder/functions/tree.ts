/**
 * coder::tree: returns a folder with everything below it, bounded by depth, by entries per folder and in all.
 *
 * A folder is opened relative to its open parent, and no symlink is followed: a name swapped during the call cannot
 * point elsewhere.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import { firstNames, gitignoreOf, HostError, takeTurn, toText, type ByteString, type JailDir } from '#host';
import { ENTRY_KINDS, entryInfo, mtimeSecs } from '../entry-info.ts';
import { coder, MAX_TREE_NODES } from '../worker.ts';

/** Each level holds a descriptor, so this is also the most that one call holds. */
const DEEPEST = 200;

/** Stats of this many entries take about five milliseconds. */
const STATS_AT_ONCE = 500;

const TruncationInfo = wire.named(
  'TruncationInfo',
  z.object({
    reason: z
      .string()
      .describe('Reason that it is incomplete: `max_depth`, `per_folder_limit`, `max_nodes` or `io_error`.'),
    shown: wire.uint32().describe('Children in this answer.'),
    total: wire.uint32().nullish().describe('Entries in the folder, where it was looked into.'),
    hint: z.string().describe('How to list the rest, or the error of the operating system.'),
  }),
);
type TruncationInfo = z.output<typeof TruncationInfo>;

const TreeNode = wire.named(
  'TreeNode',
  z.object({
    name: z.string().describe('Name in its folder; bytes that are not UTF-8 are replaced by U+FFFD.'),
    path: z.string().describe('Path from base_path; empty for base_path itself.'),
    kind: wire.named('NodeKind', z.enum(ENTRY_KINDS)),
    size: wire.uint64().describe('Bytes.'),
    mtime: wire.int64().describe('Last change, in seconds since 1970.'),
    non_accessible: z.boolean().describe('True when it is protected.'),
    get children() {
      return z.array(TreeNode).nullish().describe('Entries of a folder, sorted by the bytes of their names.');
    },
    truncated: TruncationInfo.nullish().describe('Present on a folder that shows less than it has, or may have.'),
  }),
);
type TreeNode = z.output<typeof TreeNode>;

export const tree = coder.defineFunction({
  id: 'coder::tree',
  summary: 'Show a folder with its contents, down to a depth and up to a number of entries a folder.',
  details:
    `Symlinks are shown and not followed. An answer has at most ${MAX_TREE_NODES} entries and ${DEEPEST} levels, ` +
    'whatever was asked for. A folder that cannot be read is marked `io_error` and the rest is still answered.',
  effect: 'read',
  permissions: ['fs.list'],
  subject: { trees: ['path'] },
  request: z.object({
    path: z.string().default('.').describe('The folder, relative to base_path. Default base_path itself.'),
    max_depth: wire
      .uint32()
      .nullable()
      .default(null)
      .describe('Depth: 0 is the folder alone. Default tree_default_depth.'),
    per_folder_limit: wire
      .uint32()
      .nullable()
      .default(null)
      .describe('Entries shown of one folder, at least 1. Default tree_per_folder_limit.'),
    respect_gitignore: z
      .boolean()
      .optional()
      .describe('Skip .git and files that .gitignore files under base_path exclude; default false.'),
  }),
  modelDefaults: { respect_gitignore: true },
  response: z.object({ root: TreeNode }),
  reads: { line: ['path'] },
  errors: ['C210', 'C211', 'C215', 'C216'],
  examples: [{}, { path: '.', max_depth: 2, per_folder_limit: 20 }],

  async handle(request, context, scope) {
    const { jail, isProtected, baseName, treeDepth, treePerFolderLimit, treeMaxNodes } = context;
    using dir = jail.openDir(request.path);
    const path = dir.relativePath;
    const root: TreeNode = {
      name: path === '' ? baseName : path.slice(path.lastIndexOf('/') + 1),
      path,
      kind: 'dir',
      size: dir.stat.size,
      mtime: mtimeSecs(dir.stat),
      non_accessible: path !== '' && isProtected(path),
    };
    const limits = {
      maxDepth: Math.min(request.max_depth ?? treeDepth, DEEPEST),
      perFolderLimit: Math.max(1, request.per_folder_limit ?? treePerFolderLimit),
      maxNodes: treeMaxNodes,
      isLeftOut: request.respect_gitignore ? gitignoreOf(jail) : undefined,
    };
    const walk = new TreeWalk(isProtected, limits, scope);
    await walk.grow(root, 0, () => dir);
    return { root };
  },
});

interface TreeLimits {
  maxDepth: number;
  perFolderLimit: number;
  maxNodes: number;
  /** Entries that are neither shown nor counted. */
  isLeftOut?: ReturnType<typeof gitignoreOf>;
}

class TreeWalk {
  readonly #isProtected: (relativePath: string) => boolean;
  readonly #limits: TreeLimits;
  readonly #scope: CallScope;
  #nodes = 1;
  #stats = 0;

  constructor(isProtected: (relativePath: string) => boolean, limits: TreeLimits, scope: CallScope) {
    this.#isProtected = isProtected;
    this.#limits = limits;
    this.#scope = scope;
  }

  /** Reads the children of a folder, or sets the reason why it shows none. Closes the folder that `open` returns. */
  async grow(node: TreeNode, depth: number, open: () => JailDir): Promise<void> {
    if (depth >= this.#limits.maxDepth) {
      node.truncated = {
        reason: 'max_depth',
        shown: 0,
        hint: `raise max_depth, or call coder::tree with path ${quote(node)}`,
      };
    } else if (this.#nodes >= this.#limits.maxNodes) {
      node.truncated = { reason: 'max_nodes', shown: 0, hint: this.#tooManyNodes };
    } else {
      try {
        using dir = open();
        await this.#list(dir, node, depth);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        node.truncated = { reason: 'io_error', shown: 0, hint: error.message };
      }
    }
  }

  async #list(dir: JailDir, node: TreeNode, depth: number): Promise<void> {
    const limit = Math.min(this.#limits.perFolderLimit, this.#limits.maxNodes - this.#nodes);
    const { isLeftOut } = this.#limits;
    const { names, total } = await firstNames(isLeftOut ? shownOf(dir, isLeftOut) : dir, limit, this.#scope);
    this.#nodes += names.length;

    const children: TreeNode[] = [];
    const folders: { child: TreeNode; name: ByteString }[] = [];
    for (const name of names) {
      if (this.#isTurnOver()) await takeTurn(this.#scope);
      const child = this.#describe(dir, name);
      if (child) children.push(child);
      if (child?.kind === 'dir') folders.push({ child, name });
    }
    node.children = children;
    if (total > names.length) node.truncated = this.#cutOff(node, { shown: children.length, limit, total });

    for (const { child, name } of folders) {
      if (this.#isTurnOver()) await takeTurn(this.#scope);
      await this.grow(child, depth + 1, () => dir.openDir(name));
    }
  }

  #describe(dir: JailDir, name: ByteString): TreeNode | undefined {
    const info = entryInfo(dir, name);
    if (!info) return undefined;

    const { kind, size, mtime } = info;
    const path = dir.pathOf(name);
    return { name: toText(name), path, kind, size, mtime, non_accessible: this.#isProtected(path) };
  }

  #cutOff(node: TreeNode, { shown, limit, total }: { shown: number; limit: number; total: number }): TruncationInfo {
    if (limit < this.#limits.perFolderLimit) return { reason: 'max_nodes', shown, total, hint: this.#tooManyNodes };
    const hint = `call coder::list-folder with path ${quote(node)} for all ${total} entries, page by page`;
    return { reason: 'per_folder_limit', shown, total, hint };
  }

  get #tooManyNodes(): string {
    return `a tree shows at most ${this.#limits.maxNodes} entries; ask for a path below, or for less depth or width`;
  }

  #isTurnOver(): boolean {
    this.#stats += 1;
    return this.#stats % STATS_AT_ONCE === 0;
  }
}

function shownOf(dir: JailDir, isLeftOut: NonNullable<TreeLimits['isLeftOut']>): Pick<JailDir, 'names'> {
  const isShown = ({ name, kind }: { name: ByteString; kind: string }) =>
    !isLeftOut(dir.relativePath, { name, isDir: kind === 'directory' });
  return {
    *names() {
      for (const entries of dir.entries()) yield entries.filter(isShown).map(({ name }) => name);
    },
  };
}

function quote({ path }: TreeNode): string {
  return JSON.stringify(path === '' ? '.' : path);
}
