/** Keeps calls, changes, jobs and sandboxes current while the engine is connected. */
import { computed, effect, untracked } from '@preact/signals';

import { busState, isServed, refresh } from '../session.ts';
import { followWatch } from '../watching.ts';
import { loadCalls } from './calls.ts';
import { JOURNAL, loadFeed, reloadFeed } from './changes.ts';
import { followNodes } from './nodes.ts';
import { jobs, loadJobs, loadSandboxes, sandboxes } from './machines.ts';

/** Pause between two loads of data that changes constantly, such as a job that prints. */
const REST_MS = 200;
const MACHINES_REST_MS = 500;

export function followEngine(): void {
  whileOpen(
    () => true,
    () =>
      followWatch(
        'engine::watch',
        async () => {
          await Promise.all([refresh(), loadCalls()]);
          await loadFeed();
        },
        REST_MS,
      ),
  );
  whileOpen(() => true, followNodes);
  whileOpen(
    () => isServed(JOURNAL),
    () => (reloadFeed(), void loadFeed()),
  );
  whileOpen(
    () => isServed('shell::list'),
    () => followWatch('shell::watch', () => loadJobs('shell'), MACHINES_REST_MS),
    () => (jobs.value = jobs.value?.filter(({ worker }) => worker !== 'shell')),
  );
  whileOpen(
    () => isServed('sandbox::list'),
    () => followWatch('sandbox::watch', loadSandboxes, MACHINES_REST_MS),
    () => (sandboxes.value = undefined),
  );
}

/** Runs the watcher on each connection whose engine serves its functions. Loaded data stays while the engine is disconnected. */
function whileOpen(isThere: () => boolean, start: () => (() => void) | void, gone?: () => void): void {
  const state = computed(() => (busState.value !== 'open' ? 'lost' : isThere() ? 'there' : 'missing'));
  effect(() => {
    if (state.value === 'there') return untracked(start) ?? undefined;
    if (state.value === 'missing') untracked(() => gone?.());
  });
}
