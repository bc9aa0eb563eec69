/** shell::fs::read: streams a file out, on this host or in a sandbox. */
import { read as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const read = fileFunction({ id: 'shell::fs::read' }, operation);
