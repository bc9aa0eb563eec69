/** sandbox::fs::ls: lists a directory of a sandbox. */
import { ls as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const ls = fileFunction({ id: 'sandbox::fs::ls' }, operation);
