/** shell::fs::chmod: sets permission bits, on this host or in a sandbox. */
import { chmod as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const chmod = fileFunction({ id: 'shell::fs::chmod' }, operation);
