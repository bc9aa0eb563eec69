/**
 * Rows of the engine's lists, with the fields of old and new clients side by side.
 *
 * Old clients read `request_format` and `functions`, new ones `worker_name` and `namespace`.
 */
import { cleanText } from '#contract';
import { workerSegment } from '#protocol';
import { isBuiltIn, type RegisteredFunction } from './registry.ts';
import type { Session } from './session.ts';
import type { Trigger, TriggerType } from './triggers.ts';

export const ENGINE_NAME = 'engine';

const MAX_SUMMARY = 80;

export function functionRow(fn: RegisteredFunction) {
  return {
    function_id: fn.id,
    namespace: fn.namespace,
    worker_name: workerNameOf(fn),
    description: fn.description ?? null,
    request_format: fn.requestFormat,
    response_format: fn.responseFormat,
    metadata: fn.metadata,
  };
}

/** The reporting worker's name, else the first segment of the id. */
export function workerNameOf(fn: RegisteredFunction): string {
  if (isBuiltIn(fn.owner)) return ENGINE_NAME;
  return fn.owner.info?.name ?? workerSegment(fn.id);
}

/** Whether lists omit it unless internals are asked for. */
export function isInternal(id: string, metadata?: unknown): boolean {
  if (id.startsWith('engine::') && !id.startsWith('engine::queue::')) return true;
  return typeof metadata === 'object' && metadata !== null && (metadata as { internal?: unknown }).internal === true;
}

export function workerRow(session: Session, functionIds: string[]) {
  const { info } = session;
  return {
    id: session.workerId,
    name: cleanText(info?.name ?? session.workerId),
    description: info?.description ?? null,
    version: info?.version ?? '',
    runtime: info?.runtime ?? 'unknown',
    os: info?.os ?? '',
    pid: info?.pid ?? null,
    isolation: info?.isolation ?? null,
    ip_address: session.remoteAddress ?? null,
    namespace: session.namespace,
    status: session.isInProcess ? ('available' as const) : ('connected' as const),
    connected_at_ms: session.connectedAtMs,
    active_invocations: session.serving.size,
    function_count: functionIds.length,
    functions: functionIds,
  };
}

export function triggerTypeRow(type: TriggerType) {
  return {
    id: type.id,
    worker_name: type.provider === 'engine' ? ENGINE_NAME : type.provider.label,
    description: cleanText(type.description),
  };
}

export function triggerRow(trigger: Trigger) {
  const summary = JSON.stringify(trigger.config ?? null);
  return {
    id: trigger.id,
    trigger_type: trigger.type,
    function_id: trigger.functionId,
    worker_name: trigger.binder?.label ?? ENGINE_NAME,
    config: trigger.config ?? null,
    config_summary: summary.length > MAX_SUMMARY ? `${summary.slice(0, MAX_SUMMARY - 1)}…` : summary,
    ...pendingMark(trigger),
  };
}

/** Mark of a trigger whose type has no provider, or whose provider refused it. */
export function pendingMark({ isParked }: Trigger): { pending?: true } {
  return isParked ? { pending: true } : {};
}
