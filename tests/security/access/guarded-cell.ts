/** A server with workers and the guard of an `access` block, over a directory of the test: `w` is its workspace, `state` its state. */
import { accessConfig } from '#access';
import { availableWorkers, openGuard, parseEntries, startWorkcell, type RunningWorkcell } from '#assembly';
import { parseConfig, silentLog } from '#contract';
import type { TempDir } from '#testing';

interface Asked {
  readonly access?: object;
  readonly workers: readonly { readonly name: string; readonly config?: object }[];
  /** Of the directory, where one test has several servers. */
  readonly state?: string;
}

export async function startGuarded(
  dir: TempDir,
  { access = {}, workers, state = 'state' }: Asked,
): Promise<{ cell: RunningWorkcell; guard: ReturnType<typeof openGuard> }> {
  const [workspace, stateDir] = [dir.path('w'), dir.path(state)];
  const entries = parseEntries(JSON.stringify({ state_dir: stateDir, workers }), availableWorkers, { workspace });
  const config = parseConfig(accessConfig, access, 'access');
  const guard = openGuard({ config, workspace, stateDir, log: silentLog });
  return { cell: await startWorkcell({ host: '127.0.0.1', port: 0, entries, log: silentLog, guard }), guard };
}
