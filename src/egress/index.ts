/** The network of programs that have none of their own: the rules, and the proxy of the server that enforces them. */
export { entriesOf, ENTRY_FORMS, rulesOf } from './entries.ts';
export { EgressProxy } from './egress-proxy.ts';
export type { Decision, OnHost, RefusedTarget } from './egress-log.ts';
export { EgressPolicy, whyBeyond } from './policy.ts';
export { proxyEnv, PROXY_PORT } from './proxy-env.ts';
