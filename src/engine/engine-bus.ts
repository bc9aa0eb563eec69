/** Stub bus for the engine's own functions: refuses every call, because they use their context instead. */
import type { Bus } from '#contract';

function unavailable(): never {
  throw new Error('an engine function has no bus of its own');
}

export const engineBus: Bus = {
  call: unavailable,
  createChannel: unavailable,
  openReader: unavailable,
  openWriter: unavailable,
};
