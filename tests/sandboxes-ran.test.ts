/**
 * Tests of a missing backend are skipped. Fails if both backends with few requirements are missing, because the run then
 * tested no sandbox.
 */
import { expect, test } from 'vitest';

import { whyNoGuestRoot, whyNoQemu } from '#testing';

test(
  'sandbox.P11 sandboxes were tested: namespaces or an emulated machine is there',
  { timeout: 600_000 },
  async () => {
    const reasons = [whyNoGuestRoot(), await whyNoQemu()];
    expect(reasons).toContain(undefined);
  },
);
