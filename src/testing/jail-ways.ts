/** Every mode in which a jail can work on this system, for tests that must pass in all of them. */
import { openJail, type JailChoice, type JailMode } from '#host';

const WAYS: [title: string, way: Required<JailChoice>][] = [
  ['descriptor', { mode: 'descriptor', opening: 'after-finding' }],
  ['portable', { mode: 'portable', opening: 'after-finding' }],
];

const AT_ONCE: (typeof WAYS)[number] = ['at-once', { mode: 'descriptor', opening: 'at-once' }];

/** Rows for a `test.each`: the title, then the arguments of `openJail`. */
export function jailWays(mode?: JailMode): typeof WAYS {
  // Without the system calls, a jail falls back to resolving paths first.
  const isOffered = openJail('/').opening === 'at-once';
  return [...(isOffered ? [AT_ONCE] : []), ...WAYS].filter(([, way]) => mode === undefined || way.mode === mode);
}
