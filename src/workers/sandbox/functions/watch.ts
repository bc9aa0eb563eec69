/** sandbox::watch: reports sandboxes that started, changed or ended, and events in them. */
import { watchEventsFunction, type WorkerEvent } from '#contract';
import { sandboxIdField } from '../file-function.ts';
import { parseSandboxId } from '../live/sandbox-id.ts';
import { sandbox } from '../worker.ts';

export const watch = sandbox.defineFunction({
  ...watchEventsFunction,
  id: 'sandbox::watch',
  permissions: ['sandbox.read'],
  summary: 'Report the ids of sandboxes that started, changed or ended, until the caller leaves.',
  details:
    'Also events, once each and in order: sandbox_created, job_started, job_ended, oom (`kills`: programs that were killed for ' +
    'lack of memory) and stopped (`why`: asked, idle, oom, died or server).',
  request: watchEventsFunction.request.extend({
    sandbox_id: sandboxIdField.sandbox_id.optional().describe('Only the events of this sandbox.'),
  }),
  errors: ['S001'],

  handle({ since_seq: sinceSeq, sandbox_id }, { sandboxes }, scope) {
    const id = sandbox_id === undefined ? undefined : parseSandboxId(sandbox_id);
    const wants = id === undefined ? undefined : (event: WorkerEvent) => event.sandbox_id === id;
    return sandboxes.watched.report(scope, { sinceSeq, wants });
  },
});
