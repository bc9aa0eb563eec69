/** The HTTP app over the catalogue, as a Node request listener. */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { getRequestListener, type HttpBindings } from '@hono/node-server';

import type { Bus, Principal } from '#contract';
import { httpApp, type HttpAppOptions } from './app.ts';

export type { HttpAppOptions };

type Door = (request: IncomingMessage, response: ServerResponse, principal?: Principal) => void;

export function httpDoor(bus: Bus, options: HttpAppOptions): Door {
  const principals = new WeakMap<IncomingMessage, Principal>();
  const app = httpApp(bus, options);
  const listen = getRequestListener(
    (request, env) => {
      const { incoming } = env as HttpBindings;
      return app.fetch(request, { ...env, principal: principals.get(incoming) });
    },
    { overrideGlobalObjects: false },
  );
  return (request, response, principal) => {
    if (principal) principals.set(request, principal);
    void listen(request, response);
  };
}
