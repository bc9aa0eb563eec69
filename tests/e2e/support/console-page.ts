/** A page of the console in a browser, and everything that it may not do. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

import { isFull } from '../../../src/testing/rounds.ts';

export const SCREENSHOTS = fileURLToPath(new URL('../../../.artifacts/console/', import.meta.url));

/** For one thing to appear in the page, on a busy machine. */
export const PATIENCE_MS = 30_000;

export interface ConsolePage {
  page: Page;
  visit(hash: string): Promise<unknown>;
  /** Keeps a picture in the full run. */
  shoot(name: string): Promise<void>;
  /** Fails if the page requested anything of another server, or reported an error: one of its policy, too. */
  close(): Promise<void>;
}

/** A context is a window, which takes Chromium longer than most pages: the pages of a browser are tabs of one. */
const contexts = new WeakMap<Browser, Promise<BrowserContext>>();

export async function openConsolePage(
  browser: Browser,
  http: string,
  size = { width: 1360, height: 820 },
): Promise<ConsolePage> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const context = contexts.get(browser) ?? browser.newContext({ colorScheme: 'light' });
  contexts.set(browser, context);
  const page = await (await context).newPage();
  await page.setViewportSize(size);
  page.setDefaultTimeout(PATIENCE_MS);
  const [requested, complaints]: [string[], string[]] = [[], []];
  page.on('request', (request) => requested.push(new URL(request.url()).origin));
  page.on('console', (message) => complaints.push(...(message.type() === 'error' ? [message.text()] : [])));
  page.on('pageerror', (error) => complaints.push(error.message));
  return {
    page,
    visit: (hash) => page.goto(`${http}/#/${hash}`),
    async shoot(name) {
      // Rendering one takes a processor half a second, and only a person reads it.
      if (isFull) await page.screenshot({ path: `${SCREENSHOTS}${name}.png` });
    },
    async close() {
      // Nothing that a page keeps is there for the next.
      await page.evaluate('localStorage.clear()');
      await page.close();
      expect([...new Set(requested)]).toEqual([http]);
      expect(complaints).toEqual([]);
    },
  };
}
