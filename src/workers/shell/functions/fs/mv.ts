/** shell::fs::mv: moves a path, on this host or in a sandbox. */
import { mv as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const mv = fileFunction({ id: 'shell::fs::mv' }, operation);
