/** Reads a part of a file as lines. A file over the limit is not loaded into memory. */
import { bytesAsSource, LineIndex, readLines, versionAside, type JailFile } from '#host';
import type { CallScope } from '#contract';
import { errors } from './errors.ts';
import { clipLine, fitting, linesOf, numbered } from './text-lines.ts';
import type { AgentContext } from './worker.ts';

export interface LineRange {
  readonly from: number;
  /** Undefined for the end of the file. */
  readonly to: number | undefined;
  readonly maxChars: number;
}

export interface ReadPart {
  lines: string[];
  from: number;
  /** Undefined if they were not counted. */
  total?: number;
  /** Whether a requested line did not fit. */
  isCut: boolean;
  /** Version of the whole content, if it was read. */
  version?: string;
}

/** A character of UTF-8 takes at most four bytes. */
const BYTES_A_CHAR = 4;

export async function readPart(
  file: JailFile,
  path: string,
  { from, to, maxChars }: LineRange,
  { maxFileBytes, workspace, scope }: Pick<AgentContext, 'maxFileBytes' | 'workspace'> & { scope: CallScope },
): Promise<ReadPart> {
  const bytes = file.size <= maxFileBytes ? await file.read() : undefined;
  if (bytes?.subarray(0, 8000).includes(0)) {
    const problem = `${path} is binary (${file.size} bytes, some of them NUL); read it with a command, such as xxd`;
    throw errors.fail('A210', { problem });
  }
  const source = bytes ? bytesAsSource(bytes) : file;
  const index = bytes ? new LineIndex() : workspace.lineIndexes.of(file);
  if (bytes) await index.countLines(source, scope);
  const start = await index.startOf(from, source, scope);
  if (start === undefined) {
    const problem = `${path} has ${index.totalLines} lines, so there is no line ${from}; send a smaller number`;
    throw errors.fail('A210', { problem });
  }
  const wanted = to === undefined ? Infinity : to - from + 1;
  const part = await readLines(source, { start, lines: wanted, maxBytes: (maxChars + 1) * BYTES_A_CHAR }, scope);
  const lines = linesOf(part.bytes.toString()).map((line) => clipLine(line));
  const fit = fitting(numbered(lines, from).split('\n'), maxChars);
  const total = index.totalLines;
  const last = Math.min(to ?? Infinity, total ?? Infinity);
  return {
    lines: lines.slice(0, Math.max(fit, Math.min(1, lines.length))),
    from,
    ...(total !== undefined && { total }),
    isCut: from + Math.max(fit, 1) - 1 < last && part.bytes.length > 0,
    ...(bytes && { version: await versionAside(bytes) }),
  };
}
