/** shell::fs::stat: stats a path, on this host or in a sandbox. */
import { stat as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const stat = fileFunction({ id: 'shell::fs::stat' }, operation);
