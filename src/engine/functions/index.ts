/** The engine worker with its functions, in the order the reference shows them. */
import { engine } from '../worker.ts';
import { approvalsAnswer } from './approvals/answer.ts';
import { approvalsList } from './approvals/list.ts';
import { callersList } from './callers/list.ts';
import { callersPause } from './callers/pause.ts';
import { callersPresent } from './callers/present.ts';
import { callersStop } from './callers/stop.ts';
import { callsCancel } from './calls/cancel.ts';
import { callsGet } from './calls/get.ts';
import { callsList } from './calls/list.ts';
import { callsWatch } from './calls/watch.ts';
import { createChannel } from './channels/create.ts';
import { functionsInfo } from './functions/info.ts';
import { functionsList } from './functions/list.ts';
import { metrics } from './metrics.ts';
import { nodesDrain } from './nodes/drain.ts';
import { nodesList } from './nodes/list.ts';
import { registerTrigger } from './register-trigger.ts';
import { registeredTriggersInfo } from './registered-triggers/info.ts';
import { registeredTriggersList } from './registered-triggers/list.ts';
import { triggerTypesList } from './trigger-types/list.ts';
import { triggersInfo } from './triggers/info.ts';
import { triggersList } from './triggers/list.ts';
import { unregisterTrigger } from './unregister-trigger.ts';
import { watch } from './watch.ts';
import { workersInfo } from './workers/info.ts';
import { workersList } from './workers/list.ts';
import { registerWorker } from './workers/register.ts';

export const engineWorker = engine.withFunctions([
  functionsList,
  functionsInfo,
  workersList,
  workersInfo,
  registerWorker,
  triggersList,
  triggersInfo,
  triggerTypesList,
  registeredTriggersList,
  registeredTriggersInfo,
  registerTrigger,
  unregisterTrigger,
  createChannel,
  nodesList,
  nodesDrain,
  callsList,
  callsGet,
  callsWatch,
  callsCancel,
  callersList,
  callersPause,
  callersStop,
  callersPresent,
  approvalsList,
  approvalsAnswer,
  metrics,
  watch,
]);
