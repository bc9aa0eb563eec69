/**
 * engine::workers::register: a peer reports its name and features.
 *
 * SDKs call it as a void after everything else, so nothing may depend on it. A namespace given here
 * moves the earlier registrations of the peer. A peer cannot claim the name or the isolation of a worker in this
 * process.
 */
import { z } from 'zod';

import { cleanText } from '#contract';
import { FEATURE_CALLER, FEATURE_CANCEL, FEATURE_CHANGES, FEATURE_EVENTS, FEATURE_ON_BEHALF } from '#protocol';
import { isBuiltIn } from '../../registry.ts';
import { DEFAULT_NAMESPACE } from '../../namespace.ts';
import type { Session, WorkerInfo } from '../../session.ts';
import { engine } from '../../worker.ts';

const IN_PROCESS = 'in-process';
const FEATURES = [FEATURE_CANCEL, FEATURE_CALLER, FEATURE_CHANGES, FEATURE_EVENTS, FEATURE_ON_BEHALF];
/** Features confirmed in the answer: an engine without them may relay fields of any peer in a call. */
const CONFIRMED = [FEATURE_CALLER, FEATURE_EVENTS, FEATURE_ON_BEHALF];
const text = z.string().nullish();

export const registerWorker = engine.defineFunction({
  id: 'engine::workers::register',
  summary: 'Report the metadata of the calling worker.',
  effect: 'write',
  permissions: ['engine.write'],
  request: z.object({
    name: text.describe('Name in worker lists.'),
    description: text.describe('One line about the worker.'),
    runtime: text.describe('Language or platform, such as node.'),
    version: text.describe('Version of the worker, or of its client library.'),
    os: text.describe('Operating system.'),
    pid: z.int().min(0).nullish().describe('Process id; a worker without one stays out of lists.'),
    isolation: text.describe('Container or sandbox that the worker runs in, if any.'),
    namespace: z.string().max(512).nullish().describe('Namespace of its functions. Default `default`.'),
    features: z.array(z.string()).nullish().describe('Optional abilities, such as `cancel`.'),
  }),
  response: z.object({
    success: z.boolean(),
    features: z
      .array(z.string())
      .optional()
      .describe('Features that worker and engine share, beyond those of the greeting.'),
  }),
  errors: ['deserialization_error', 'INVALID_NAMESPACE'],
  examples: [{ name: 'my-worker', runtime: 'node', version: '1.0.0', os: 'linux', pid: 4242 }],

  handle(request, { sessions, registry, events }, { call: { callerId } }) {
    const session = callerId === undefined ? undefined : sessions.get(callerId);
    if (!session) return { success: false };

    const info = {
      name: cleanText(request.name ?? session.workerId),
      description: cleanText(request.description ?? '') || null,
      runtime: cleanText(request.runtime ?? 'unknown'),
      version: cleanText(request.version ?? ''),
      os: cleanText(request.os ?? ''),
      pid: request.pid ?? undefined,
      isolation: request.isolation == null ? null : cleanText(request.isolation),
    };
    session.info = ownInfo(session, info, sessions);
    if (session.isInProcess) {
      for (const other of sessions.values()) if (other.info) other.info = ownInfo(other, other.info, sessions);
    }
    for (const feature of FEATURES) if (request.features?.includes(feature)) session.features.add(feature);

    const namespace = request.namespace?.trim() || DEFAULT_NAMESPACE;
    if (namespace !== session.namespace) {
      session.namespace = namespace;
      for (const { id } of registry.move(session, namespace)) {
        const owner = registry.find(id, namespace)?.owner;
        if (owner && !isBuiltIn(owner)) session.refuseFunction(id, owner.workerId);
      }
    }
    events.workerChanged('worker_metadata_updated', session.workerId);
    const features = CONFIRMED.filter((feature) => session.features.has(feature));
    return { success: true, ...(features.length > 0 && { features }) };
  },
});

/** A peer with the name of a worker in this process goes by its connection id, whichever came first. */
function ownInfo(session: Session, info: WorkerInfo, sessions: ReadonlyMap<string, Session>): WorkerInfo {
  if (session.isInProcess) return info;
  const isTaken = [...sessions.values()].some(
    (other) => other.isInProcess && other.info && folded(other.info.name) === folded(info.name),
  );
  const isolation = folded(info.isolation ?? '') === IN_PROCESS ? null : info.isolation;
  return { ...info, name: isTaken ? session.workerId : info.name, isolation };
}

/** Normalizes a name: wide letters, capitals and surrounding spaces do not make it a different one. */
function folded(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}
