/** The network of a sandbox: what it may reach, and which authority its programs trust. */
export { authorityEnv, offerAuthority, readAuthority } from './authority.ts';
export { EgressCeiling, EgressRequest, policyOf } from './egress-lists.ts';
