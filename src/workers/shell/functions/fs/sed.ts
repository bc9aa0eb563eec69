/** shell::fs::sed: finds and replaces in files, on this host or in a sandbox. */
import { sed as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const sed = fileFunction({ id: 'shell::fs::sed' }, operation);
