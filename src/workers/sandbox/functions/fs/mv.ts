/** sandbox::fs::mv: moves a path within a sandbox. */
import { mv as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const mv = fileFunction({ id: 'sandbox::fs::mv' }, operation);
