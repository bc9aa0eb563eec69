/** A whole Workcell in this process: engine and workers, and optionally every surface on one port. */
import { Engine, engineErrors, startServer, type AdmissionRules, type ServerOptions } from '#engine';
import { connect } from '#client';
import { gauge, summariseErrors, type Log, type Telemetry } from '#contract';
import { version } from '#version';
import type { WorkerEntry } from './config-file.ts';
import { endToken } from './end-token.ts';
import type { Guard } from './guard.ts';
import { WorkerSet } from './worker-set.ts';
import { availableWorkers } from './workers.ts';

export interface CellOptions {
  entries: WorkerEntry[];
  /** Rights of callers, and the record of their calls; without it every admitted caller may call everything. */
  guard?: Guard | undefined;
  /** Sends traces and metrics to a collector; closed with the cell. */
  telemetry?: Telemetry | undefined;
  log: Log;
  /** Whether workers prepare for calls in advance, as in a long-running server. */
  prepares?: boolean;
}

/** Engine and workers, with or without a port. */
export interface Cell {
  /** The URL for other processes; only with a port. */
  readonly url?: string;
  readonly engine: Engine;
  readonly workers: WorkerSet;
  close(): Promise<void>;
}

export interface WorkcellOptions extends AdmissionRules, CellOptions {
  port: number;
  tls?: ServerOptions['tls'];
}

export interface RunningWorkcell extends Cell {
  readonly url: string;
}

export async function assembleCell({ entries, log, prepares, guard, telemetry }: CellOptions): Promise<Cell> {
  const engine = new Engine({ log, access: guard?.access, audit: guard?.audit, telemetry });
  const namespaces = [...new Set(entries.map(({ namespace = 'default' }) => namespace))];
  guard?.onTokenGone((token) => void endToken(engine, token, { namespaces, log }));
  for (const { namespace = 'default', denial } of entries) if (denial) engine.deny(namespace, denial);
  const workers = new WorkerSet(engine.dialer(), log, { prepares });
  engine.addMetrics(() => workers.metrics());
  engine.addMetrics(() => [gauge('workcell_info', 'The version of this server.', [{ labels: { version }, value: 1 }])]);
  const close = async () => {
    await workers.close();
    engine.close();
    guard?.close();
    await telemetry?.close();
  };
  try {
    await workers.apply(entries);
    return { engine, workers, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function startWorkcell({
  entries,
  log,
  prepares,
  guard,
  telemetry,
  ...listening
}: WorkcellOptions): Promise<RunningWorkcell> {
  const cell = await assembleCell({ entries, log, prepares, guard, telemetry });
  const { engine, workers } = cell;
  try {
    // Loaded only for a port: a server on standard input starts sooner without them.
    const [{ httpDoor }, { mcpHttp }] = await Promise.all([import('#surfaces/http'), import('#surfaces/mcp')]);
    const bus = await connect(engine.dialer(), {
      name: 'workcell:http',
      description: 'The HTTP surface.',
      version,
      isolation: 'in-process',
      log,
    });
    const maxBodyBytes = engine.limits.maxMessageBytes;
    const mcp = mcpHttp(bus, { version, maxBodyBytes, log });
    const busErrors = summariseErrors(engineErrors);
    const workerErrors = availableWorkers.map(({ name, errors }) => ({
      worker: name,
      errors: summariseErrors(errors),
    }));
    const isReady = () => engine.isReady;
    const onRequest = httpDoor(bus, { version, busErrors, workerErrors, maxBodyBytes, isReady, mcp: mcp.fetch, log });
    const { access, operatorKey } = guard ?? {};
    const server = await startServer(engine, { ...listening, access, operatorKey, onRequest, log });
    return {
      url: server.url,
      engine,
      workers,
      async close() {
        await mcp.close();
        await workers.close();
        bus.close();
        await server.close();
        guard?.close();
        await telemetry?.close();
      },
    };
  } catch (error) {
    await cell.close();
    throw error;
  }
}
