/** shell::fs::write: writes a file, on this host or in a sandbox. */
import { write as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const write = fileFunction({ id: 'shell::fs::write' }, operation);
