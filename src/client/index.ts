/** A connection to the bus: call functions, serve workers, stream through channels. */
export type { CallStream } from './call-stream.ts';
export { connect, Connection, type ConnectOptions } from './connect.ts';
export type { ServableWorker } from './serving.ts';
export { socketDialer } from './socket-dialer.ts';
