/** The bus of the engine's own functions: it refuses every call, because their context has what they need. */
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
