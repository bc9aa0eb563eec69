/** Commits the layer of one recorded command, so that `coder::undo` covers it. */
import { commitLayer, LayerError, inspectLayer, planWhole, type CommitOwn } from '#host';
import type { LiveWorkspace } from './open-workspace.ts';

/**
 * The layer began with the command, so repositories are taken too; both sides of a file that others changed are merged.
 */
export function committingOwn(live: LiveWorkspace): CommitOwn {
  return async (layer, call) => {
    const { journal, jail } = live;
    const scope = live.scopeOf(layer, call.signal);
    const inspected = await inspectLayer(scope);
    const plan = await planWhole(inspected, scope, { onConflict: 'merge', git: true, isPart: false });
    const [first] = plan.conflicts;
    if (first) {
      throw new LayerError(
        'system',
        `${first.path} changed in the workspace while the command ran, and nothing of the command was kept; run it again`,
      );
    }
    const outcome = await commitLayer(plan, {
      paths: layer.paths,
      changes: live.changesFor(layer, plan),
      journal,
      jail,
      call,
    });
    return { ...(outcome.seq !== undefined && { seq: outcome.seq }), files: plan.rows.length };
  };
}
