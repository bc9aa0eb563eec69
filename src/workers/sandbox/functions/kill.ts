/** sandbox::kill: kills a background job with everything it started, or sends another signal to it. */
import { kill as operation } from '#job-functions';
import { jobFunction } from '../job-function.ts';

export const kill = jobFunction({ id: 'sandbox::kill', errors: ['S219'] }, operation);
