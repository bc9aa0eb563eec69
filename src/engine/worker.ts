/** The engine's own functions as a worker: always present, never on a link. */
import { z } from 'zod';

import { defineWorker, type Watched } from '#contract';
import type { Calls } from './calls/index.ts';
import type { ChannelBroker } from './channels/channels.ts';
import { errors, fail, plainBody } from './errors.ts';
import type { Events } from './events.ts';
import { ENGINE_NAME } from './list-rows.ts';
import type { Registry } from './registry.ts';
import type { Session } from './session.ts';
import type { Metrics } from './telemetry/metrics.ts';
import type { Triggers } from './triggers.ts';

/** Context of the engine's own functions. */
export interface EngineContext {
  readonly registry: Registry;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly triggers: Triggers;
  readonly channels: ChannelBroker;
  readonly events: Events;
  readonly watched: Watched;
  readonly metrics: Metrics;
  readonly calls: Pick<Calls, 'approvals' | 'rights' | 'observed' | 'running' | 'callers' | 'control'>;
}

export const engine = defineWorker({
  name: ENGINE_NAME,
  summary: 'The bus itself: connected workers, their functions, channels.',
  config: z.strictObject({}),
  errors,
  failures: {
    badInput: (problem, id) => fail('deserialization_error', { id, problem }),
    internal: (callId) => fail('internal_error', { callId }),
    deadline: (ms) => fail('TIMEOUT', { ms }),
  },
  spell: plainBody,
  open(): EngineContext {
    throw new Error('the engine makes its own context');
  },
});
