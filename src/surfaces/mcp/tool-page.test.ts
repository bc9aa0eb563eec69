import { expect, test } from 'vitest';

import { toolPage } from './tool-page.ts';
import type { OfferedTool } from './tools.ts';

const offered = ['a', 'c', 'b', 'd'].map((name) => ({ definition: { name, inputSchema: {} } })) as OfferedTool[];
const names = ({ tools }: ReturnType<typeof toolPage>) => tools.map(({ name }) => name);

test('one page holds all that fits, in the order given', () => {
  expect(toolPage(offered)).toEqual({ tools: offered.map(({ definition }) => definition) });
});

test('a client that reads on from page to page gets each tool once', () => {
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = toolPage(offered, cursor, 70);
    expect(page.tools.length).toBeGreaterThan(0);
    seen.push(...names(page));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(seen).toEqual(['a', 'c', 'b', 'd']);
});

test('a tool larger than a page is on a page of its own', () => {
  expect(names(toolPage(offered, undefined, 1))).toEqual(['a']);
});
