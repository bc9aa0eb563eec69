/** shell::status: returns one background job with its output so far. */
import { status as operation } from '#job-functions';
import { originalJobFunction } from '../job-function.ts';

export const status = originalJobFunction({ id: 'shell::status', errors: [] }, operation);
