/** What tests share. Never imported by the product, never published. */
export { run } from './run.ts';
export { startEngine, type TestEngine } from './start-engine.ts';
export { tempDir } from './temp-dir.ts';
