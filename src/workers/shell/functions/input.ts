/** shell::input: writes to the standard input of a background job. */
import { input as operation } from '#job-functions';
import { jobFunction } from '../job-function.ts';

export const input = jobFunction({ id: 'shell::input' }, operation);
