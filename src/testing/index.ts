/** What tests share. Never imported by the product, never published. */
export { run, type RunOptions } from './run.ts';
export { startEngine, type TestEngine, type TestEngineOptions } from './start-engine.ts';
export { tempDir } from './temp-dir.ts';
