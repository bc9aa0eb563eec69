/** A Workcell with `shell` alone in a process, as callers on the bus meet it. */
import { tmpdir } from 'node:os';

import { createWorkcell } from '#library';
import { serveParent } from '../../processes.mjs';

const config = { allowlist: [], denylist_patterns: [] };
const cell = await createWorkcell({ workspace: tmpdir(), workers: [{ name: 'shell', config }], port: 0 });
serveParent({ url: cell.url });
