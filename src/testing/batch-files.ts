/** Test helpers for functions over many files. */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';

import type { FunctionDef } from '#contract';
import { run } from './run.ts';
import type { TempDir } from './temp-dir.ts';

/** Operations of an edit. */
export const insert = (at_line: number, content: string) => ({ op: 'insert', at_line, content });
export const remove = (from_line: number, to_line: number) => ({ op: 'remove', from_line, to_line });
export const updateLines = (from_line: number, to_line: number, content: string) => ({
  op: 'update_lines',
  from_line,
  to_line,
  content,
});
export const replace = (pattern: string, replacement: string, more: object = {}) => ({
  op: 'replace',
  pattern,
  replacement,
  ...more,
});

/** The failure of one item. */
export function failureOf(result: { error?: string | null }): Record<string, unknown> {
  return JSON.parse(result.error ?? '{}') as Record<string, unknown>;
}

/** Calls coder::update-file, and reads the contents of files afterwards. */
export function updateCases<Result>(updateFile: FunctionDef<unknown, z.ZodType, z.ZodType<{ results: Result[] }>>) {
  const call = (dir: TempDir, payload: unknown, config: object = {}) =>
    run(updateFile, payload, { base_path: dir.root, max_write_bytes: 4096, fsync: false, ...config });
  return {
    call,
    /** One file, one item. */
    async update(dir: TempDir, path: string, ops: object[], item: object = {}): Promise<Result> {
      const { results } = await call(dir, { files: [{ path, ops, ...item }] });
      return results[0]!;
    },
    text: (dir: TempDir, name: string) => readFileSync(dir.path(name), 'utf8'),
  };
}
