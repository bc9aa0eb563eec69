/**
 * One page of the tool list: clients stop at messages of 10 MiB, and foreign workers may bring schemas of any length.
 *
 * The cursor is the name of the last tool of the page before, so it stays valid when the list changes.
 */
import type { ListToolsResult } from '@modelcontextprotocol/server';

import type { OfferedTool } from './tools.ts';

const MAX_PAGE_BYTES = 4 * 2 ** 20;

/** `offered` is in the order of ids, which may differ from the order of names. */
export function toolPage(
  offered: readonly OfferedTool[],
  cursor?: string,
  maxBytes: number = MAX_PAGE_BYTES,
): ListToolsResult {
  const tools = offered.map(({ definition }) => definition);
  const after = tools.findIndex(({ name }) => name === cursor);
  const page: ListToolsResult['tools'] = [];
  let bytes = 0;
  for (const tool of tools.slice(after + 1)) {
    bytes += Buffer.byteLength(JSON.stringify(tool));
    if (page.length > 0 && bytes > maxBytes) return { tools: page, nextCursor: page.at(-1)!.name };
    page.push(tool);
  }
  return { tools: page };
}
