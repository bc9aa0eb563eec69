/** Environment variables that point programs without a network to the proxy. Their own loopback bypasses it. */

type Env = [name: string, value: string][];

/** In the guest or in the fence; nothing listens on this machine. */
export const PROXY_PORT = 3128;

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const DIRECT = 'localhost,127.0.0.1,::1';

/** Both cases, because programs differ. */
export const proxyEnv: Env = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name): Env[number] => [name, PROXY]),
  ...['NO_PROXY', 'no_proxy'].map((name): Env[number] => [name, DIRECT]),
  // Node ignores the others without this.
  ['NODE_USE_ENV_PROXY', '1'],
];
