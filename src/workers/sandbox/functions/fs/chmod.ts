/** sandbox::fs::chmod: sets permissions in a sandbox. */
import { chmod as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const chmod = fileFunction({ id: 'sandbox::fs::chmod' }, operation);
