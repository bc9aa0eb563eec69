import { expect, test } from 'vitest';

import { sandbox, type Outlook } from '#workers/sandbox';
import { checkImages } from './check-images.ts';

const { signal } = new AbortController();

const asked = (outlooks: Record<string, Outlook>) => ({ outlook: async (name: string) => outlooks[name]! });
const configOf = (...image_allowlist: string[]) => sandbox.config.parse({ image_allowlist });

test('images that are cached or can be pulled are ok', async () => {
  const images = asked({ python: { kind: 'here' }, node: { kind: 'registry' } });
  expect(await checkImages(configOf('python', 'node'), signal, images)).toEqual({
    check: 'images',
    status: 'ok',
    detail: 'python is here; node can be pulled',
    fix: '',
  });
});

test('an image that an ordinary user cannot build is reported with the missing prerequisites', async () => {
  const missing = ['uidmap', 'a line for eve in /etc/subuid and /etc/subgid'];
  const why = 'no registry gives it, and building it needs uidmap';
  const images = asked({ python: { kind: 'build' }, node: { kind: 'none', why, missing } });
  expect(await checkImages(configOf('python', 'node'), signal, images)).toEqual({
    check: 'images',
    status: 'warn',
    detail: `python can be built here; node not available: ${why}`,
    fix: 'to build it, get uidmap, a line for eve in /etc/subuid and /etc/subgid; or workcell sandbox import <archive> node',
  });
});

test('an empty image allowlist is a warning', async () => {
  expect(await checkImages(configOf(), signal, asked({}))).toMatchObject({ status: 'warn' });
});
