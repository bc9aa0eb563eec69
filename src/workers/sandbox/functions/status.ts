/** sandbox::status: returns one background job of a sandbox with its output so far. */
import { status as operation } from '#job-functions';
import { jobFunction } from '../job-function.ts';

export const status = jobFunction({ id: 'sandbox::status' }, operation);
