/** The tools of a server whose bus may still be loading: lists tools at once, makes calls when the bus is ready. */
import type { ListToolsResult } from '@modelcontextprotocol/server';

import type { Bus } from '#contract';
import { Offer } from './offered-tools.ts';
import type { ShippedTools } from './shipped-tools.ts';
import { toolPage } from './tool-page.ts';
import type { ToolProfile } from './tools.ts';

/** The tools to list until the bus is ready. */
export interface EarlyList {
  readonly tools: ShippedTools;
  /** Called when the client has its list, or calls a tool before that. */
  onAsked(this: void): void;
}

interface Reached {
  readonly bus: Bus;
  readonly offer: Offer;
}

export class LazyTools {
  readonly #reached: Promise<Reached>;
  #early: EarlyList | undefined;

  constructor(
    connecting: Bus | Promise<Bus>,
    { profile, early }: { profile?: ToolProfile | undefined; early?: EarlyList | undefined },
  ) {
    this.#early = early;
    this.#reached = Promise.resolve(connecting).then((bus) => {
      this.#early = undefined;
      return { bus, offer: new Offer(bus, profile) };
    });
    // Ignored here: the owner of the bus reports it and ends the server.
    this.#reached.catch(() => {});
  }

  async page(cursor: string | undefined): Promise<ListToolsResult> {
    if (this.#early) {
      // After the answer, which is written in this turn.
      setImmediate(this.#early.onAsked);
      return { tools: [...this.#early.tools] };
    }
    const { offer } = await this.#reached;
    return toolPage([...(await offer.tools()).values()], cursor);
  }

  /** Resolves with the bus once it is ready; does not start loading it. */
  reached(): Promise<Reached> {
    return this.#reached;
  }

  reach(): Promise<Reached> {
    this.#early?.onAsked();
    return this.#reached;
  }
}
