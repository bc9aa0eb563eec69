import { expect, test } from 'vitest';

import { chooseSources } from './debian-sources.ts';

test('takes the Debian archive of the host with its updates, and nothing else of it', () => {
  const listing = [
    'Debian bookworm main http://mirror.test/debian/',
    'Debian bookworm main http://mirror.test/debian/',
    'Debian bookworm non-free http://mirror.test/debian/',
    'Debian bookworm-updates main http://mirror.test/debian/',
    'Debian bookworm-security main https://mirror.test/security/',
    'Debian Backports bookworm-backports main http://mirror.test/debian/',
    'Debian trixie main http://mirror.test/debian/',
    'Another nodistro main https://packages.test/',
    '',
  ].join('\n');
  expect(chooseSources(listing)).toEqual({
    suite: 'bookworm',
    lines: [
      'deb http://mirror.test/debian/ bookworm main',
      'deb http://mirror.test/debian/ bookworm-updates main',
      'deb https://mirror.test/security/ bookworm-security main',
    ],
  });
});

test.each(['', 'Ubuntu noble main http://mirror.test/ubuntu/', 'Debian bookworm main cdrom://disk/'])(
  'leaves the choice of a mirror to mmdebstrap where the host has none: "%s"',
  (listing) => expect(chooseSources(listing)).toEqual({ suite: 'bookworm', lines: [] }),
);
