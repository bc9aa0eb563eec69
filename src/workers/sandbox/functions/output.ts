/** sandbox::output: reads the output of a background job from an offset on, and waits. */
import { output as operation } from '#job-functions';
import { jobFunction } from '../job-function.ts';

export const output = jobFunction({ id: 'sandbox::output' }, operation);
