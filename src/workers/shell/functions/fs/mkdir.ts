/** shell::fs::mkdir: creates a directory, on this host or in a sandbox. */
import { mkdir as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const mkdir = fileFunction({ id: 'shell::fs::mkdir' }, operation);
