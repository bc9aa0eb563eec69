/** sandbox::fs::stat: stats a path in a sandbox. */
import { stat as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const stat = fileFunction({ id: 'sandbox::fs::stat', responseTitle: 'StatResponse' }, operation);
