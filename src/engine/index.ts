/** The bus: an engine, and the server that puts it on a port. */
export { isLoopback, type AdmissionRules } from './admission.ts';
export { Engine } from './engine.ts';
export { errors as engineErrors } from './errors.ts';
export { engineWorker } from './functions/index.ts';
export { defaultLimits, type EngineLimits } from './limits.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
