/** A page of the console in a browser, and everything that it may not do. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';

export const SCREENSHOTS = fileURLToPath(new URL('../../../.artifacts/console/', import.meta.url));

/** For one thing to appear in the page, on a busy machine. */
export const PATIENCE_MS = 20_000;

export interface ConsolePage {
  page: Page;
  visit(hash: string): Promise<unknown>;
  shoot(name: string): Promise<unknown>;
  /** Fails if the page requested anything of another server, or reported an error: one of its policy, too. */
  close(): Promise<void>;
}

export async function openConsolePage(
  browser: Browser,
  http: string,
  size = { width: 1360, height: 820 },
): Promise<ConsolePage> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const page = await browser.newPage({ viewport: size, colorScheme: 'light' });
  page.setDefaultTimeout(PATIENCE_MS);
  const [requested, complaints]: [string[], string[]] = [[], []];
  page.on('request', (request) => requested.push(new URL(request.url()).origin));
  page.on('console', (message) => complaints.push(...(message.type() === 'error' ? [message.text()] : [])));
  page.on('pageerror', (error) => complaints.push(error.message));
  return {
    page,
    visit: (hash) => page.goto(`${http}/#/${hash}`),
    shoot: (name) => page.screenshot({ path: `${SCREENSHOTS}${name}.png` }),
    async close() {
      await page.close();
      expect([...new Set(requested)]).toEqual([http]);
      expect(complaints).toEqual([]);
    },
  };
}
