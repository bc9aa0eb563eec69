/**
 * A layer for one command.
 *
 * `fence: change` outside of a change discards the command's changes. `record` commits them when the command has ended,
 * so that undo covers them and other calls see the files.
 */
import type { CallScope } from '#contract';
import { LayerError, layersOf, type Layers, type OpenLayer } from '#host';
import { errors } from './errors.ts';
import type { ExecRequest } from './exec-request.ts';
import { shell, type ShellContext } from './worker.ts';

export type LayerUse = 'thrown-away' | 'recorded';

interface Asked extends Pick<ExecRequest, 'fence' | 'target'> {
  record?: boolean | null | undefined;
}

/** Undefined for a command that needs no layer of its own. */
export function ownLayerFor(request: Asked, { fence, layer, recordsCommands }: ShellContext): LayerUse | undefined {
  if (request.target.kind === 'sandbox' || layer) {
    if (request.record !== true) return undefined;
    const why = layer ? 'commands in a change are recorded by its commit' : "'record' is for host targets only";
    throw errors.fail('S210', { problem: `${why}; leave record out` });
  }
  if (fence.isLayered || request.fence === 'change') {
    if (request.record !== true) return 'thrown-away';
    throw errors.fail('S210', { problem: 'fence: "change" throws away what a command changes; leave record out' });
  }
  return (request.record ?? recordsCommands) ? 'recorded' : undefined;
}

interface OwnLayer {
  readonly isFenced: boolean;
  readonly note: string;
  /** Runs when the last command has ended. If it fails, the layer stays as an open change. */
  readonly atEnd?: (layer: OpenLayer, layers: Layers) => Promise<unknown>;
}

/** Runs the work in a new layer, which is removed when the last of its commands has ended. */
export async function inOwnLayer<T>(
  context: ShellContext,
  { isFenced, note, atEnd }: OwnLayer,
  work: (context: ShellContext, layer: OpenLayer, layers: Layers) => Promise<T>,
): Promise<T> {
  const { root, cell } = context.setup;
  const layers = layersOf(root, cell);
  if (!layers) {
    throw new LayerError('unavailable', `this needs the worker \`change\` in this server, with the workspace ${root}`);
  }
  const outside = isFenced ? 'private' : 'as-is';
  const { name } = await layers.begin({ outside, network: 'host', note });
  const layer = layers.find(name);
  try {
    using inside = await shell.changes!.within(context, name);
    return await work(inside.context, layer, layers);
  } finally {
    const isJob = layer.commandCount > 0;
    const removed = layer
      .commandsEnded()
      .then(() => atEnd?.(layer, layers))
      .then(() => layers.discard(name));
    const warn = (error: unknown) =>
      context.setup.log.warn(`the change ${name} stays open after its command; see \`why\``, {
        why: String(error),
      });
    // Does not wait: a job continues without its caller.
    if (isJob || atEnd) void removed.catch(warn);
    else await removed;
  }
}

/** The call that is recorded. */
export type Recording = Pick<CallScope, 'call' | 'functionId' | 'signal' | 'noteChange'>;

/** Commits the changes of a command that ran to its end. */
export async function record(
  { layer, layers, words }: { layer: OpenLayer; layers: Layers; words: readonly string[] },
  { call, functionId, signal, noteChange }: Recording,
): Promise<{ seq?: number; files: number }> {
  if (!layers.commitOwn) throw new LayerError('unavailable', 'this server cannot commit changes');
  const message = words.join(' ').slice(0, 500);
  return await layers.commitOwn(layer, { call, functionId, signal, noteChange, message });
}
