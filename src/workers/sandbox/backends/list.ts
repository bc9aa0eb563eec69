/** The backends of this build. The strongest isolation is put first automatically: see ladder/open-ladder.ts. */
import type { BackendDef } from './definition.ts';
import { gvisor } from './gvisor/index.ts';
import { namespaces } from './namespaces/index.ts';
import { qemu } from './qemu/index.ts';

export const BACKENDS: readonly BackendDef[] = [qemu, gvisor, namespaces];
