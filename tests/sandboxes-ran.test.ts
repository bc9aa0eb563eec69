/** Tests of a backend are skipped where it is missing; a run in which none of two that need little was there proves nothing. */
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
