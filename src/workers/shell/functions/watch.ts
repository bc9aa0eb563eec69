/** shell::watch: reports jobs that started, printed or ended, for pages that show them. */
import { watchEventsFunction } from '#contract';
import { shell } from '../worker.ts';

export const watch = shell.defineFunction({
  ...watchEventsFunction,
  id: 'shell::watch',
  permissions: ['process.read'],
  summary: 'Report the ids of jobs that started, printed something or ended, until the caller leaves.',
  details: 'Also the events job_started (`job_id`) and job_ended (`job_id`, `status`, `exit_code`), once each.',
  errors: ['S210'],

  handle: ({ since_seq: sinceSeq }, { jobs }, scope) => jobs.watched.report(scope, { sinceSeq }),
});
