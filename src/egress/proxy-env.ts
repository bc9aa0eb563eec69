/** Environment variables that point programs to the proxy. Connections to their own loopback bypass it. */

type Env = [name: string, value: string][];

/** Port in the guest or in the fence; nothing listens on this machine. */
export const PROXY_PORT = 3128;

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
const DIRECT = 'localhost,127.0.0.1,::1';

/** Both spellings, because programs differ. */
export const proxyEnv: Env = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name): Env[number] => [name, PROXY]),
  ...['NO_PROXY', 'no_proxy'].map((name): Env[number] => [name, DIRECT]),
  // Without this Node ignores the other variables.
  ['NODE_USE_ENV_PROXY', '1'],
];
