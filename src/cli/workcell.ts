/** A whole Workcell in this process: engine, workers and the HTTP door on one port. */
import { Engine, engineErrors, startServer, type AdmissionRules } from '#engine';
import { connect } from '#client';
import { summariseErrors, type Log } from '#contract';
import { httpDoor } from '#surfaces/http';
import { mcpHttp } from '#surfaces/mcp';
import type { WorkerEntry } from './config-file.ts';
import { version } from './version.ts';
import { WorkerSet } from './worker-set.ts';

export interface WorkcellOptions extends AdmissionRules {
  port: number;
  entries: WorkerEntry[];
  log: Log;
}

export interface RunningWorkcell {
  readonly url: string;
  readonly workers: WorkerSet;
  close(): Promise<void>;
}

export async function startWorkcell({ entries, log, ...listening }: WorkcellOptions): Promise<RunningWorkcell> {
  const engine = new Engine({ log });
  const workers = new WorkerSet(engine.dialer(), log);
  try {
    await workers.apply(entries);
    const bus = await connect(engine.dialer(), {
      name: 'workcell:http',
      description: 'The HTTP door.',
      isolation: 'in-process',
      log,
    });
    const maxBodyBytes = engine.limits.maxMessageBytes;
    const mcp = mcpHttp(bus, { version, maxBodyBytes, log });
    const busErrors = summariseErrors(engineErrors);
    const onRequest = httpDoor(bus, { version, busErrors, maxBodyBytes, mcp: mcp.fetch, log });
    const server = await startServer(engine, { ...listening, onRequest, log });
    return {
      url: server.url,
      workers,
      async close() {
        await mcp.close();
        await workers.close();
        bus.close();
        await server.close();
      },
    };
  } catch (error) {
    await workers.close();
    engine.close();
    throw error;
  }
}
