/** sandbox::watch: reports the ids of sandboxes that started, changed or ended, for pages that show them. */
import { watchFunction } from '#contract';
import { sandbox } from '../worker.ts';

export const watch = sandbox.defineFunction({
  ...watchFunction,
  id: 'sandbox::watch',
  permissions: ['sandbox.read'],
  summary: 'Report the ids of sandboxes that started, changed or ended, until the caller leaves.',
  errors: ['S001'],

  handle: (_, { sandboxes }, scope) => sandboxes.watched.report(scope),
});
