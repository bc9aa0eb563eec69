/** shell::fs::rm: removes a path, on this host or in a sandbox. */
import { rm as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const rm = fileFunction({ id: 'shell::fs::rm' }, operation);
