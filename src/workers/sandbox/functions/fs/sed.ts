/** sandbox::fs::sed: finds and replaces in the files of a sandbox. */
import { sed as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

export const sed = fileFunction({ id: 'sandbox::fs::sed' }, operation);
