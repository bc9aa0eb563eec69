/** The network of a sandbox: allowed hosts, and the authority that its programs trust. */
export { authorityEnv, offerAuthority, readAuthority } from './authority.ts';
export { EgressCeiling, EgressRequest, policyOf } from './egress-lists.ts';
