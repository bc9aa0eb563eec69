/** A worker on an engine of its own, called over the bus; both are closed with the scope. */
import { connect, type Connection } from '#client';
import { parseConfig, silentLog, type AnyWorker, type CallOptions, type Log } from '#contract';
import { Engine } from '#engine';

export interface ServedWorker extends AsyncDisposable {
  readonly engine: Engine;
  /** Connects another peer. */
  connect(name: string): Promise<Connection>;
  call<Reply = Record<string, unknown>>(functionId: string, payload?: unknown, options?: CallOptions): Promise<Reply>;
  /** Closes the worker alone, as the end of the process would. */
  stop(): Promise<void>;
}

export async function serveWorker(
  def: AnyWorker,
  config: Record<string, unknown>,
  log: Log = silentLog,
): Promise<ServedWorker> {
  const context = await def.open(parseConfig(def.config, config, def.name), log);
  const engine = new Engine({ log });
  const worker = await connect(engine.dialer(), { name: def.name, log });
  worker.serve({ def, context });
  const caller = await connect(engine.dialer(), { name: 'caller', log });
  await worker.call('engine::workers::list');

  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= Promise.resolve(def.close(context)));
  return {
    engine,
    connect: (name) => connect(engine.dialer(), { name, log }),
    call: async <Reply>(functionId: string, payload?: unknown, options?: CallOptions) =>
      (await caller.call(functionId, payload, { timeoutMs: 60_000, ...options })) as Reply,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      engine.close();
    },
  };
}
