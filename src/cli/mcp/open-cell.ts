/**
 * The engine behind `workcell mcp`: one inside this process, or one that already runs. Loads the workers, so it is
 * imported late.
 */
import { resolve } from 'node:path';

import {
  assembleCell,
  availableWorkers,
  guardFor,
  parseEntries,
  presetEntries,
  readApps,
  readConfigFile,
  tryTelemetry,
  withApps,
  type App,
  type WorkerEntry,
} from '#assembly';
import { findConfigFile } from '#assembly/options';
import { connect, type Connection } from '#client';
import { makePrincipal, type Log, type Principal } from '#contract';
import type { ToolProfile } from '#surfaces/mcp';
import { parseCellOptions } from '../cell-options.ts';
import type { CommandInput } from '../command.ts';
import { engineToken, engineUrl, explainUnreachable, text } from '../engine-address.ts';
import { boundChangeOf, requireTools } from './startup-checks.ts';
import { parsePreset } from '../preset-options.ts';

type Options = CommandInput['options'];

export interface McpCell {
  readonly bus: Connection;
  /** The principal of the client's calls. */
  readonly principal: Principal;
  /** The change that its calls work in. */
  readonly change?: string | undefined;
  /** Whether telemetry was sent to a collector: its exporters may keep the process. */
  readonly isTraced?: boolean;
  close(): Promise<void>;
}

/** `workspace` is undefined for an engine that already runs. */
export async function openMcpCell(
  options: Options,
  { workspace, profile, log }: { workspace: string | undefined; profile: ToolProfile; log: Log },
): Promise<McpCell> {
  const cell = workspace === undefined ? await remote(options, log) : await embedded(options, workspace, log);
  try {
    await requireTools(cell.bus, profile, { mayComeLater: workspace === undefined, log });
    return { ...cell, change: await boundChangeOf(cell.bus, text(options.change)) };
  } catch (error) {
    await cell.close();
    throw error;
  }
}

async function embedded(options: Options, workspace: string, log: Log): Promise<McpCell> {
  const app = readApp(options, workspace);
  const entries = app ? withApps([], [app]) : await readEntries(options, workspace);
  const file = app ? undefined : findConfigFile(text(options.config));
  const config = file === undefined ? undefined : readConfigFile(file);
  const guard = guardFor(config, { workspace, cell: parseCellOptions(options), log });
  const telemetry = await tryTelemetry(log);
  const cell = await assembleCell({ entries, log, guard, telemetry });
  const bus = await connect(cell.engine.dialer(), { name: 'workcell:mcp', isolation: 'in-process', log });
  const principal = app ? makePrincipal('app', app.name) : makePrincipal('local', 'stdio');
  return { bus, principal, isTraced: telemetry !== undefined, close: () => cell.close() };
}

function readApp(options: Options, workspace: string): App | undefined {
  const file = text(options.app);
  if (file === undefined) return undefined;
  const surroundings = { workspace, cell: parseCellOptions(options) };
  return readApps([resolve(file)], { available: availableWorkers, ...surroundings })[0];
}

async function readEntries(options: Options, workspace: string): Promise<WorkerEntry[]> {
  const cell = parseCellOptions(options);
  const file = findConfigFile(text(options.config));
  const preset = await parsePreset(options, { file, workspace });
  if (file === undefined) {
    // Standard output belongs to the protocol.
    if (!preset!.isShipped) process.stderr.write(`preset ${preset!.name}: ${preset!.holds}\n`);
    return presetEntries(preset!, availableWorkers, { workspace, cell });
  }
  const named = text(options.workspace) && workspace;
  return parseEntries(readConfigFile(file), availableWorkers, { workspace: named, ...(cell && { cell }) });
}

async function remote(options: Options, log: Log): Promise<McpCell> {
  const bus = await connect(engineUrl(options), { name: 'workcell:mcp', token: engineToken(options), log }).catch(
    explainUnreachable,
  );
  return { bus, principal: makePrincipal('local', 'stdio'), close: async () => bus.close() };
}
