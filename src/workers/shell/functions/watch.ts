/** shell::watch: reports the ids of jobs that started, printed or ended, for pages that show them. */
import { watchFunction } from '#contract';
import { shell } from '../worker.ts';

export const watch = shell.defineFunction({
  ...watchFunction,
  id: 'shell::watch',
  permissions: ['process.read'],
  summary: 'Report the ids of jobs that started, printed something or ended, until the caller leaves.',
  errors: ['S210'],

  handle: (_, { jobs }, scope) => jobs.watched.report(scope),
});
