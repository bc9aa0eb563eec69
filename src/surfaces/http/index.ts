/** The HTTP door over the catalogue, as a Node request listener. */
import type { RequestListener } from 'node:http';

import { getRequestListener } from '@hono/node-server';

import type { Bus } from '#contract';
import { httpApp, type HttpAppOptions } from './app.ts';

export type { HttpAppOptions };

export function httpDoor(bus: Bus, options: HttpAppOptions): RequestListener {
  const listen = getRequestListener(httpApp(bus, options).fetch, { overrideGlobalObjects: false });
  return (request, response) => void listen(request, response);
}
