/** `workcell/client`: a connection to a running engine, typed by the functions of Workcell. */
import { connect as connectUntyped, type Connection, type ConnectOptions } from '#client';
import type { TypedBus } from './function-types.ts';

export type TypedConnection = Omit<Connection, 'call' | 'stream'> & TypedBus;

/**
 * Connects to the engine at a ws:// URL; reconnects by itself after a lost link.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { connect } from 'workcell/client';
 *
 * // Stands for `workcell start`; its URL is then ws://127.0.0.1:49134.
 * const cell = await createWorkcell({ workspace: '.', port: 0, workers: [{ name: 'coder' }] });
 *
 * const bus = await connect(cell.url, { name: 'my-program' });
 * const { root } = await bus.call('coder::tree');
 * console.log(root.kind); // dir
 * bus.close();
 * await cell.close();
 * ```
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<TypedConnection> {
  return connectUntyped(url, options) as Promise<TypedConnection>;
}

export { CallError, readCatalogue, type CallEvent, type CallOptions, type CatalogueEntry } from '#contract';
export type { CallStream, ConnectOptions, ServableWorker } from '#client';
export type { FunctionId, FunctionTypes, RequestOf, ResponseOf, TypedBus } from './function-types.ts';
