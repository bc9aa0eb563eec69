/** Every mode in which a jail can work on this system, for tests that must pass in all of them. */
import { openJail, type JailChoice, type JailMode } from '#host';

const MODES: [title: string, way: Required<JailChoice>][] = [
  ['descriptor', { mode: 'descriptor', opening: 'after-finding' }],
  ['portable', { mode: 'portable', opening: 'after-finding' }],
];

const AT_ONCE: (typeof MODES)[number] = ['at-once', { mode: 'descriptor', opening: 'at-once' }];

/** As rows of a `test.each`: the title, then the arguments of `openJail`. */
export function jailModes(mode?: JailMode): typeof MODES {
  // Where its system calls are missing, a jail falls back to finding first.
  const isOffered = openJail('/').opening === 'at-once';
  return [...(isOffered ? [AT_ONCE] : []), ...MODES].filter(([, way]) => mode === undefined || way.mode === mode);
}
