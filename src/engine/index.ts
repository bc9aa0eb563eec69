/** The bus: an engine, and the server that puts it on a port. */
export { isLoopback, type AdmissionRules } from './admission.ts';
export { Channel, type ChannelBroker } from './channels/channels.ts';
export type { OtherNodes, NodeRow } from './other-nodes.ts';
export { Engine } from './engine.ts';
export { errors as engineErrors } from './errors.ts';
export { Policies } from './calls/authorize.ts';
export { engineWorker } from './functions/index.ts';
export { defaultLimits, type EngineLimits } from './limits.ts';
export { DEFAULT_NAMESPACE, splitNamespace } from './namespace.ts';
export { isBuiltIn, type RegisteredFunction } from './registry.ts';
export type { Session } from './session.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
