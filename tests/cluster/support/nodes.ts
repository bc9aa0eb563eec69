/** Nodes in this process, over a real NATS server, with functions that count how often each call ran. */
import { setTimeout as sleep } from 'node:timers/promises';

import { ClusterSettingsSchema, joinCluster, OwnNode, type Cluster, type ClusterSettings } from '#cluster';
import { connect, type Connection } from '#client';
import { silentLog } from '#contract';
import { Engine } from '#engine';
import type { EngineOptions } from '../../../src/engine/engine.ts';
import type { Frame, InvokeFrame, Link } from '#protocol';

export interface TestNode extends AsyncDisposable {
  readonly engine: Engine;
  readonly cluster: Cluster;
  readonly bus: Connection;
  /** How often each key of `work::once` ran. */
  readonly ran: Map<string, number>;
  readonly cancelled: string[];
  /** Callers of the calls that ran, as the worker saw them. */
  readonly callers: NonNullable<InvokeFrame['caller']>[];
}

type Handler = (data: never, frame: InvokeFrame, link: Link) => unknown;

/** A worker by frames. Functions of the scopes that tests need are cheap to add. */
export async function addWorker(
  engine: Engine,
  functions: Record<string, Handler>,
  {
    scope = 'one',
    namespace = 'default',
    onCancel = (_: string): void => {},
    onRefused = (_: string): void => {},
  } = {},
): Promise<Link> {
  const link = await engine.dialer().dial();
  const answer = async (frame: InvokeFrame) => {
    const reply = await Promise.resolve()
      .then(() => functions[frame.function_id]!(frame.data as never, frame, link))
      .then(
        (result) => ({ result }),
        (error: unknown) => ({ error: { code: 'invocation_failed', message: (error as Error).message } }),
      );
    if (frame.invocation_id != null) {
      link.send({ type: 'invocationresult', invocation_id: frame.invocation_id, ...reply });
    }
  };
  link.attach({
    frame: (frame: Frame) => {
      if (frame.type === 'invokefunction') void answer(frame);
      if (frame.type === 'cancelinvocation') onCancel(frame.invocation_id);
      if (frame.type === 'registrationrejected') onRefused(frame.function_id ?? '');
    },
    closed: () => {},
  });
  const features = ['cancel', 'caller', 'events', 'changes'];
  const data = { name: 'test-worker', pid: 1, features, namespace };
  link.send({ type: 'invokefunction', function_id: 'engine::workers::register', action: { type: 'void' }, data });
  for (const id of Object.keys(functions))
    link.send({ type: 'registerfunction', id, metadata: { workcell: { scope } } });
  return link;
}

export interface NodeOptions extends EngineOptions {
  /** Instead of a random one. */
  id?: string;
  /** The ids that it draws. */
  draw?: () => string;
  /** Called with the node before it joins. */
  beforeJoin?: (ownNode: OwnNode, engine: Engine) => void;
}

export async function startNode(
  servers: readonly string[],
  node: string,
  settings: Partial<ClusterSettings> = {},
  { id, draw = id === undefined ? undefined : () => id, beforeJoin, ...options }: NodeOptions = {},
): Promise<TestNode> {
  const engine = new Engine(options);
  const ran = new Map<string, number>();
  const cancelled: string[] = [];
  const callers: TestNode['callers'] = [];
  await addWorker(
    engine,
    {
      'work::once': async ({ key, ms = 0 }: { key: string; ms?: number }, { caller }) => {
        ran.set(key, (ran.get(key) ?? 0) + 1);
        if (caller) callers.push(caller);
        if (ms > 0) await sleep(ms);
        return { key, by: node };
      },
      'work::echo': (data) => data,
      'work::fail': () => {
        throw new Error('handler error: {"code":"X1","message":"no"}');
      },
      'work::talk': (_, { invocation_id, wants_events }, link) => {
        for (let seq = 1; wants_events === true && seq <= 3; seq++) {
          link.send({ type: 'invocationevent', invocation_id: invocation_id!, seq, event: { type: 'said', seq } });
        }
        return 'done';
      },
    },
    { scope: 'host', onCancel: (call) => void cancelled.push(call) },
  );
  const parsed = ClusterSettingsSchema.parse({ servers: [...servers], node, share: ['work'], ...settings });
  const ownNode = new OwnNode(parsed, '0', draw && { draw });
  beforeJoin?.(ownNode, engine);
  const cluster = await joinCluster(engine, parsed, { log: options.log ?? silentLog, ownNode });
  const bus = await connect(engine.dialer(), { name: 'caller' });
  return {
    ...{ engine, cluster, bus, ran, cancelled, callers },
    async [Symbol.asyncDispose]() {
      await cluster.leave();
      engine.close();
    },
  };
}

/** Waits until a node knows the functions of the named ones. */
export async function untilKnown(node: TestNode, ...names: string[]): Promise<void> {
  const isKnown = (name: string) => node.cluster.nodes().some((row) => row.name === name && row.functions > 0);
  for (let left = 1_500; !names.every(isKnown); left--) {
    if (left === 0) throw new Error(`not known: ${names.filter((name) => !isKnown(name)).join(', ')}`);
    await sleep(20);
  }
}
