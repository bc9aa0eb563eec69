/** The size of a job's terminal, in characters. */
import { z } from 'zod';

const characters = () => z.int().min(1).max(1000);

export const TerminalSize = z.object({
  cols: characters().describe('Width in characters.'),
  rows: characters().describe('Height in characters.'),
});
export type TerminalSize = z.output<typeof TerminalSize>;
