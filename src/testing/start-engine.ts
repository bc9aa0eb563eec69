/** A real engine on a free loopback port, closed with the scope. */
import { Engine, startServer, type EngineLimits, type RunningServer, type ServerOptions } from '#engine';
import { silentLog, type Log } from '#contract';

export interface TestEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly server: RunningServer;
  readonly url: string;
}

export interface TestEngineOptions extends Partial<ServerOptions> {
  limits?: Partial<EngineLimits>;
  log?: Log;
}

export async function startEngine({
  limits,
  log = silentLog,
  ...options
}: TestEngineOptions = {}): Promise<TestEngine> {
  const engine = new Engine({ limits, log });
  const server = await startServer(engine, { host: '127.0.0.1', port: 0, log, ...options });
  return { engine, server, url: server.url, [Symbol.asyncDispose]: () => server.close() };
}
