/** sandbox::input: writes to the standard input of a background job, or resizes its terminal. */
import { input as operation } from '#job-functions';
import { jobFunction } from '../job-function.ts';

export const input = jobFunction({ id: 'sandbox::input' }, operation);
