/** What tells programs of the guest where the proxy is. Their own loopback is reached without it. */
import type { Env } from '../environment.ts';

/** In the guest; nothing listens on this machine. */
export const PROXY_PORT = 3128;

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const DIRECT = 'localhost,127.0.0.1,::1';

/** Programs agree on neither case. */
export const proxyEnv: Env = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name): Env[number] => [name, PROXY]),
  ...['NO_PROXY', 'no_proxy'].map((name): Env[number] => [name, DIRECT]),
  // Node looks at the others only when told to.
  ['NODE_USE_ENV_PROXY', '1'],
];
