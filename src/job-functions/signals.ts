/** The signals that a caller may send to a job. */
import { z } from 'zod';

export const SignalName = z.enum(['INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2', 'WINCH', 'KILL']);
export type SignalName = z.output<typeof SignalName>;
