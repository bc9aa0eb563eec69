/** Permission bits as text: octal digits, as chmod takes them. */
import { z } from 'zod';

import { FileFault } from '#host';

export const modeField = (words: string) =>
  z.string().describe(`${words} Octal digits such as "0644"; setuid, setgid and sticky bits are refused.`);

export function spellMode(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

/** The bits for owner, group and others. Never setuid, setgid or sticky. */
export function parseMode(text: string): number {
  if (!/^[0-7]+$/.test(text)) {
    throw new FileFault('bad-request', `mode must be octal digits such as "0644" (got ${JSON.stringify(text)})`);
  }
  const mode = Number.parseInt(text, 8);
  if (mode > 0o777) {
    throw new FileFault(
      'bad-request',
      `mode must be at most "0777", without special bits (got ${JSON.stringify(text)})`,
    );
  }
  return mode;
}
