/** Puts the list of tools of a start without configuration beside the module that answers with it. */
import { writeFileSync } from 'node:fs';

import { toTools } from '../dist/surfaces/mcp/index.js';
import { catalogue } from './catalogue.mjs';

const tools = toTools(await catalogue(), { profiles: ['coding'] });
const definitions = [...tools.values()].map(({ definition }) => definition);
writeFileSync(new URL('../dist/surfaces/mcp/shipped-tools.json', import.meta.url), JSON.stringify(definitions));
