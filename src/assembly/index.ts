/** The parts of a Workcell: the configuration, the apps, the workers. Used by the command line and the library. */
export { guardFor, openGuard, operatorKeyIn } from './guard.ts';
export { openAccess, shippedAccess, shippedFunction } from './access.ts';
export { readApps, withApps, type App } from './app-definition.ts';
export {
  defaultEntries,
  entryOf,
  findWorker,
  firstTwice,
  parseAccess,
  parseCell,
  parseCluster,
  parseEntries,
  readConfigFile,
  toEntries,
  type WorkerEntry,
} from './config-file.ts';
export { decisive, explainCall, type Check } from './explain.ts';
export { clusterConfig, withoutClusterSecrets, type ClusterConfig } from './cluster-config.ts';
export { isWithinReach } from './config-in-workspace.ts';
export { watchConfig } from './config-watch.ts';
export { choosePreset, hasOpenShell, presetEntries, type Preset } from './presets.ts';
export { requireTelemetry, tryTelemetry } from './telemetry.ts';
export { assembleCell, startWorkcell, type RunningWorkcell } from './workcell.ts';
export { availableWorkers } from './workers.ts';
export { canonicalWorkspace, defaultConfigPath, findConfigFile } from './options/index.ts';
