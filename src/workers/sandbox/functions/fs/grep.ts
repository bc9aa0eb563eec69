/** sandbox::fs::grep: searches the files of a sandbox. */
import { grep as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const grep = fileFunction({ id: 'sandbox::fs::grep' }, operation);
