/** User-supplied regexes, in the Rust dialect; none reaches JavaScript's RegExp. */
export { compileRegex, type RegexOptions } from './compile-regex.ts';
export type { LineMatch } from './find-lines.ts';
export { requiredLiterals, type Regex, type Span } from './regex.ts';
export { ASCII_CHARS, type CharSet } from './required-runs.ts';
export { RegexThreads, type ReplacedText } from './regex-threads.ts';
export type { ReplacedSpan } from './replaced-spans.ts';
export { RegexError, ReplacementError } from './regex-error.ts';
export { literalReplacement, parseReplacement } from './replacement.ts';
