/** Collects the facts of a change for diff and commit: its rows, the paths left out, its repositories. */
import { openJail, type Jail } from '../../jail/jail.ts';
import type { OpenLayer } from '../open-layer.ts';
import { LayerContents } from './contents.ts';
import { gitRepositories, type GitRepository, type GitScope } from '../git/git-repository.ts';
import { isWithin } from './parents.ts';
import { findRenames } from './renames.ts';
import { rowsOf, type Row } from './rows.ts';
import type { LayerJails, LayerWalk, LeftOut, TouchedPath } from './touched-paths.ts';
import { walkLayer, type WalkOptions } from './walk-layer.ts';

/** `beganAtCtimeNs`: ctime of a file created when the change began (file-system clock). */
export interface LayerScope extends WalkOptions, GitScope {}

export interface LayerInspection {
  readonly rows: readonly Row[];
  readonly leftOut: readonly LeftOut[];
  readonly repositories: readonly GitRepository[];
  readonly goneDirectories: readonly string[];
  /** New directories, parents first; an empty one gets a row. */
  readonly newDirectories: readonly TouchedPath[];
  readonly contents: LayerContents;
}

/** A path of the request that the change did not touch. */
export class UntouchedPath extends Error {
  override readonly name = 'UntouchedPath';
  readonly path: string;

  constructor(path: string) {
    super(`the change did not touch ${path}`);
    this.path = path;
  }
}

/** With `paths`, only those and paths below them; throws `UntouchedPath` for one without changes. */
export async function inspectLayer(scope: LayerScope, paths?: readonly string[]): Promise<LayerInspection> {
  const walk = await walkLayer(scope.jails, scope);
  const contents = new LayerContents(scope.jails);
  const chosen = paths ? within(walk, paths) : walk;
  const rows = await rowsOf(chosen, await findRenames(chosen.touched, contents), contents);
  const { leftOut, goneDirectories } = chosen;
  const repositories = await gitRepositories(chosen.gitDirectories, scope);
  const newDirectories = chosen.touched.filter(
    ({ mine, base }) => mine?.type === 'directory' && base?.type !== 'directory',
  );
  return { rows, leftOut, repositories, goneDirectories, newDirectories, contents };
}

function within(walk: LayerWalk, paths: readonly string[]): LayerWalk {
  const all = [...walk.touched, ...walk.trees.flatMap(({ entries }) => entries), ...walk.leftOut];
  const found = [...all.map(({ path }) => path), ...walk.gitDirectories];
  const untouched = paths.find((path) => !found.some((one) => isWithin(one, [path])));
  if (untouched !== undefined) throw new UntouchedPath(untouched);

  const isChosen = ({ path }: { readonly path: string }) => isWithin(path, paths);
  // Expands folder rows to files when only a part is committed: the change stays open, and keeps its layer.
  const below: TouchedPath[] = walk.trees.flatMap(({ entries }) => entries.filter(isChosen));
  return {
    touched: [...walk.touched.filter(isChosen), ...below],
    trees: [],
    leftOut: walk.leftOut.filter(isChosen),
    goneDirectories: walk.goneDirectories.filter((path) => isWithin(path, paths)),
    gitDirectories: walk.gitDirectories.filter((path) => isWithin(path, paths)),
  };
}

/** The directories of a change that is entered; `live` is the jail of the workspace. */
export function jailsOf({ upper, pins, workspace, mounted }: OpenLayer, live: Jail): LayerJails {
  return {
    live,
    upper: openJail(upper),
    pins: openJail(pins),
    view: openJail(workspace, { view: mounted.view }),
  };
}
