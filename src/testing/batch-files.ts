/** What functions over many files take and answer, as tests write and read it. */

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
