/** A process wherever it runs, and the code that runs it to its end. */
export { Execution, type ExecutionResult, type OutputSoFar } from './execution.ts';
export { KeptOutput } from './kept-output.ts';
export { OutputRing, type RingPiece } from './output-ring.ts';
export { OutputQueue } from './output-queue.ts';
export type { OutputPiece, OutputStream, Process, ProcessEnd, ProcessInput } from './process.ts';
