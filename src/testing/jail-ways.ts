/** Every way in which a jail can work on this system, for the tests that hold in all of them. */
import { openJail, type JailChoice, type JailMode } from '#host';

const WAYS: [title: string, way: Required<JailChoice>][] = [
  ['descriptor', { mode: 'descriptor', opening: 'after-finding' }],
  ['portable', { mode: 'portable', opening: 'after-finding' }],
];

const AT_ONCE: (typeof WAYS)[number] = ['at-once', { mode: 'descriptor', opening: 'at-once' }];

/** As rows of a `test.each`: the title, then what `openJail` takes. */
export function jailWays(mode?: JailMode): typeof WAYS {
  // Where the calls for it are missing, a jail that is asked for it finds first as well.
  const isOffered = openJail('/').opening === 'at-once';
  return [...(isOffered ? [AT_ONCE] : []), ...WAYS].filter(([, way]) => mode === undefined || way.mode === mode);
}
