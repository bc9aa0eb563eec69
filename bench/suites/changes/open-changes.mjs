/** The workers change, coder and shell over one directory in this process, called as the bus would call them. */
import { answer, CallControl, parseConfig, shippedCell, silentLog } from '#contract';
import { change } from '#workers/change';
import { coder } from '#workers/coder';
import { shell } from '#workers/shell';

export async function openChanges(workspace, { stateDir, fsync }) {
  const cell = { ...shippedCell, state_dir: stateDir };
  const open = { allowlist: [], denylist_patterns: [], rules: [], max_timeout_ms: 600_000 };
  const blocks = [
    [coder, { base_path: workspace, fsync }],
    [shell, { ...open, fs: { host_root: workspace } }],
    [change, { workspace, outside: 'as-is', fsync, max_open: 64 }],
  ];
  const functions = new Map();
  const contexts = [];
  for (const [def, block] of blocks) {
    const context = await def.open(parseConfig(def.config, block, def.name), silentLog, cell);
    contexts.push([def, context]);
    for (const fn of def.functions) functions.set(fn.id, { def, context, fn });
  }
  let calls = 0;
  return {
    layers: contexts.find(([def]) => def === change)[1].layers,
    async call(id, payload = {}) {
      const { def, context, fn } = functions.get(id);
      const surroundings = { bus: undefined, log: silentLog, control: new CallControl() };
      const reply = await answer({ def, context }, fn, { callId: `${++calls}`, payload }, surroundings);
      if ('error' in reply) throw new Error(`${id}: ${reply.error.message}`);
      return reply.result;
    },
    async close() {
      for (const [def, context] of contexts.reverse()) await def.close(context);
    },
  };
}
