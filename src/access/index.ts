/** Who may do what: policies, tokens with names, and the audit. */
export { Access } from './access.ts';
export { accessConfig, type AccessConfig } from './config.ts';
export { AuditLog, type AuditLimits } from './audit/audit-log.ts';
export { Auditor } from './audit/auditor.ts';
export { Mask } from './audit/masked.ts';
export { recordsOf, verifyChain, type Verified } from './audit/read-chain.ts';
export { policyNamed } from './policy.ts';
export type { Lookup, NamedToken } from './tokens/token-book.ts';
export { TokenFile } from './tokens/token-file.ts';
