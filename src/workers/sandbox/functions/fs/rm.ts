/** sandbox::fs::rm: removes a path from a sandbox. */
import { rm as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const rm = fileFunction({ id: 'sandbox::fs::rm' }, operation);
