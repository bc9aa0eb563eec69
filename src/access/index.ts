/** Who may do what: policies, tokens with names, and the audit. */
export { accessConfig, type AccessConfig } from './config.ts';
export { AuditLog, type AuditLimits } from './audit/audit-log.ts';
export { Mask } from './audit/masked.ts';
export { recordsOf, verifyChain, type Verified } from './audit/read-chain.ts';
export { Policy, policyNamed, type FactsOf } from './policy.ts';
export { SHIPPED_POLICIES } from './shipped.ts';
export { subjectOf } from './subject.ts';
export { configuredTokens, lookUp, type NamedToken, type TokenEntry } from './tokens/token-book.ts';
export { TokenFile } from './tokens/token-file.ts';
