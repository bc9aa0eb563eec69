/** shell::fs::ls: lists a directory, on this host or in a sandbox. */
import { ls as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const ls = fileFunction({ id: 'shell::fs::ls' }, operation);
