/** The field by which replies name a change of this session. */
import { wire } from '#contract';

export const changeNumber = wire
  .uint32()
  .optional()
  .describe('Number of the change in this session, for undo; absent if nothing was changed or nothing is recorded.');
