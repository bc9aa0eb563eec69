/** Enters a change for one call of a worker, with a context of that worker which reads and writes the layer. */
import { layersOf } from './layers.ts';
import { LayerError, type View } from './layer.ts';
import type { OpenLayer } from './open-layer.ts';

/** How a worker opens files in a change: through its view, with a journal of its own. */
export interface InView {
  readonly view?: View;
  readonly journalDir?: string;
}

export function inViewOf({ mounted, paths }: OpenLayer): Required<InView> {
  return { view: mounted.view, journalDir: paths.directory };
}

/** The directory that a worker works in, and where changes over it are stored. */
export interface LayerTarget {
  readonly workspace: string;
  readonly cell: { readonly state_dir?: string | null };
}

/** `context` is the worker's own; the one in the change is made for the first call and closed with the mount. */
export async function withinLayer<Context extends object>(
  { workspace, cell, change }: LayerTarget & { change: string },
  context: Context,
  open: (layer: OpenLayer) => Promise<{ context: Context; close(): Promise<unknown> }>,
): Promise<{ context: Context } & Disposable> {
  const layers = layersOf(workspace, cell);
  if (!layers) {
    throw new LayerError(
      'unknown',
      `there are no changes over ${workspace} here: the worker \`change\` has to run in this server, with that workspace`,
    );
  }
  const entered = await layers.enter(change);
  try {
    const inner = await entered.layer.kept(context, () => open(entered.layer));
    return { context: inner, [Symbol.dispose]: () => entered[Symbol.dispose]() };
  } catch (error) {
    entered[Symbol.dispose]();
    throw error;
  }
}
