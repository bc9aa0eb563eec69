/**
 * A change: a private layer over a workspace, and the reasons why it cannot be used.
 *
 * The layer is an overlay mount in a mount namespace of its own. Commands see it at the path of the workspace; this
 * process reads it through a descriptor of its root.
 */

/** Facts of one open change for diff and commit. */
export interface Layer {
  readonly name: string;
  /** Canonical path of the live workspace. */
  readonly workspace: string;
  /** Files that the change wrote: a plain directory. */
  readonly upper: string;
  /** Files as they were before others changed them in the workspace: hard links, and whiteouts for new files. */
  readonly pins: string;
  /** Path by which this process reads the merged view, such as /proc/7/fd/30. */
  readonly view: string;
  /** The ctime of a file made in the store when the change began, by the clock of the file system. */
  readonly beganAtCtimeNs: bigint;
  /** JSON file with the references and the index version of each repository when the change began. */
  readonly gitAtBegin?: string;
}

/** The root of a mounted layer, as the path jail uses it. */
export interface View {
  /** Name of the root, which the kernel reports for its files too: the path of the workspace. */
  readonly root: string;
  /** An `O_PATH` descriptor of the root. */
  readonly fd: number;
  /** Files of the workspace itself have the same names and another mount. */
  readonly mountId: string;
}

/** Directories and files of one change in the store. */
export interface LayerParts {
  readonly workspace: string;
  readonly upper: string;
  readonly work: string;
  readonly pins: string;
  /** A device of the kind that hides a name below, to be linked. */
  readonly whiteout: string;
  /** Descriptor of the lock file: the lock lasts as long as it is open. */
  readonly lock: number;
}

export interface MountedLayer {
  readonly view: View;
  /** `overlay-user` in a user namespace, where the kernel cannot rename directories of the workspace. */
  readonly mount: 'overlay' | 'overlay-user';
  /** Descriptors of the user namespace and the mount namespace. */
  readonly namespaces: readonly [user: number, mounts: number];
  /** Makes the layer show changes of the workspace below it. Open files keep their content. */
  refresh(): Promise<void>;
  close(): void;
}

/** Throws a `LayerError` where the system refuses, or another server has the change. */
export type MountLayer = (parts: LayerParts) => Promise<MountedLayer>;

export type LayerReason = 'malformed' | 'unknown' | 'busy' | 'unavailable' | 'limit' | 'system' | 'elsewhere';

export class LayerError extends Error {
  override readonly name = 'LayerError';
  readonly reason: LayerReason;
  /** Fields of the next request. */
  readonly fix: Record<string, unknown> | undefined;

  constructor(
    reason: LayerReason,
    problem: string,
    { fix, cause }: { fix?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(problem, { cause });
    this.reason = reason;
    this.fix = fix;
  }
}
