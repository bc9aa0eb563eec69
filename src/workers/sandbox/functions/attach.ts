/** sandbox::attach: streams the output and the input of a background job through channels. */
import { attach as operation } from '#job-functions';
import { jobFunction } from '../job-function.ts';

export const attach = jobFunction({ id: 'sandbox::attach' }, operation);
