/** Access of callers: policies, tokens with names, and the audit. */
export { Access } from './access.ts';
export { accessConfig, type AccessConfig } from './config.ts';
export { AuditLog } from './audit/audit-log.ts';
export { Auditor } from './audit/auditor.ts';
export { Mask } from './audit/masked.ts';
export { recordsOf, verifyChain } from './audit/read-chain.ts';
export { LiveAccess } from './live-access.ts';
export { policyNamed } from './policy.ts';
export { UNKNOWN } from './subject.ts';
export { TokenFile } from './tokens/token-file.ts';
