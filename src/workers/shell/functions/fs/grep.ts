/** shell::fs::grep: searches files by regex, on this host or in a sandbox. */
import { grep as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const grep = fileFunction({ id: 'shell::fs::grep' }, operation);
