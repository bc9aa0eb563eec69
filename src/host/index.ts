/** What touches the operating system, one capability a file. */
export { toText, type ByteString } from './byte-string.ts';
export { firstNames, type FirstNames } from './first-names.ts';
export { GlobError, type GlobDialect } from './glob-syntax.ts';
export { compileGlobs } from './globs.ts';
export { HostError, type HostReason } from './host-error.ts';
export { openJail, type Jail, type JailMode, type JailOptions } from './jail.ts';
export type { JailDir } from './jail-dir.ts';
export type { JailFile } from './jail-file.ts';
