/** The network of a sandbox: what it may reach, and the proxy that enforces it. */
export { authorityEnv, offerAuthority, readAuthority } from './authority.ts';
export { EgressCeiling, EgressRequest, policyOf } from './egress-lists.ts';
export { EgressProxy } from './egress-proxy.ts';
export type { Decision, RefusedPlace } from './egress-log.ts';
export { type EgressPolicy } from './policy.ts';
export { proxyEnv, PROXY_PORT } from './proxy-env.ts';
