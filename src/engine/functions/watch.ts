/** engine::watch: reports that calls, workers, functions or nodes changed, for pages that show them. */
import { watchFunction } from '#contract';
import { engine } from '../worker.ts';

export const watch = engine.defineFunction({
  ...watchFunction,
  id: 'engine::watch',
  permissions: ['engine.read'],
  summary: 'Report when `calls`, `workers`, `functions`, `approvals` or `nodes` changed, until the caller leaves.',
  errors: ['deserialization_error'],

  handle: (_, { watched }, scope) => watched.report(scope),
});
