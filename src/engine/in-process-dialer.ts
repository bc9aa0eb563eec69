/** Connects peers in this process to the engine: same frames as over a socket, without encoding. */
import { memoryLinks, type Dialer } from '#protocol';
import { memoryReader, memoryWriter } from './channels/memory-channels.ts';
import type { Engine } from './engine.ts';

export function inProcessDialer(engine: Engine): Dialer {
  return {
    redials: false,
    isInProcess: true,
    get httpUrl() {
      return engine.httpUrl;
    },
    dial() {
      const [near, far] = memoryLinks();
      engine.connect(far);
      return Promise.resolve(near);
    },
    openReader: (ref) => memoryReader(engine.channels, ref),
    openWriter: (ref) => memoryWriter(engine.channels, ref),
  };
}
