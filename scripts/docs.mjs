/**
 * Writes docs/reference from the definitions, and the figures of the guide A fleet from the benchmarks; with --check it only
 * says whether the pages are current.
 *
 * The pages of the reference come from the catalogue of a real engine, so they show the same as any client sees.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { commandHelp } from '../dist/cli/command.js';
import { allCommands } from '../dist/cli/commands/index.js';
import { EXIT_CODES } from '../dist/cli/exit-codes.js';
import { clusterConfig } from '../dist/assembly/cluster-config.js';
import { availableWorkers } from '../dist/assembly/workers.js';
import { cellConfig, configKeys, summariseErrors } from '../dist/contract/index.js';
import { engineErrors } from '../dist/engine/index.js';
import { referencePages, toMarkdown } from '../dist/surfaces/reference/index.js';
import { withCapacity } from './capacity.mjs';
import { catalogue } from './catalogue.mjs';

const DOCS = fileURLToPath(new URL('../docs/', import.meta.url));
const NOTE = '<!-- Made by `npm run docs` from the definitions; edit those. -->\n\n';

const reference = [
  ...referencePages(await catalogue({ includeInternal: true }), {
    busErrors: summariseErrors(engineErrors),
    workerErrors: workerErrors(),
  }),
  configurationPage(),
  await cliPage(),
];
const pages = [
  ...reference.map((page) => ({ name: `reference/${page.slug}.md`, text: NOTE + toMarkdown(page) })),
  fleetGuide(),
];
const isCheck = process.argv.includes('--check');
const stale = pages.filter(({ name, text }) => read(name) !== text);
if (isCheck && stale.length > 0) {
  console.error(`not current: ${stale.map(({ name }) => `docs/${name}`).join(', ')}. Run: npm run docs`);
  process.exitCode = 1;
} else if (!isCheck) {
  mkdirSync(`${DOCS}reference`, { recursive: true });
  for (const { name, text } of stale) writeFileSync(DOCS + name, text);
  console.log(`${pages.length} pages, ${stale.length} rewritten`);
}

function fleetGuide() {
  const name = 'guides/fleet.md';
  return { name, text: withCapacity(read(name), read('benchmarks.md')) };
}

function configurationPage() {
  const blocks = [
    { kind: 'heading', level: 2, text: 'All workers' },
    {
      kind: 'text',
      text:
        'Beside `workers`. `--protect`, repeated for each glob, and `WORKCELL_PROTECT` take its place; an app file and ' +
        '`createWorkcell` have a `protect` of their own.',
    },
    keyTable(cellConfig),
    { kind: 'heading', level: 2, text: '`cluster`' },
    {
      kind: 'text',
      text: 'Beside `workers`: how `workcell start` joins other machines. Its options override each key.',
    },
    keyTable(clusterConfig),
    ...availableWorkers.flatMap((def) => [
      { kind: 'heading', level: 2, text: `\`${def.name}\`` },
      { kind: 'text', text: def.summary },
      keyTable(def.config),
    ]),
  ];
  const intro =
    'A configuration file is YAML with a list `workers`, each a `name` and a `config`, and keys for all of them. ' +
    'A key that is left out has the default below; an unknown key is refused. ' +
    '`${NAME}` and `${NAME:default}` are replaced from the environment in the whole file. ' +
    '`workcell worker add <name>` writes a commented block, `workcell config print` shows what applies.';
  return {
    slug: 'configuration',
    title: 'Configuration',
    blocks: [{ kind: 'heading', level: 1, text: 'Configuration' }, { kind: 'text', text: intro }, ...blocks],
  };
}

function keyTable(schema) {
  return {
    kind: 'table',
    head: ['Key', 'Default', 'Meaning'],
    rows: configKeys(schema).map(({ key, default: value, description }) => [
      `\`${key}\``,
      `\`${JSON.stringify(value)}\``,
      description,
    ]),
  };
}

async function cliPage() {
  const blocks = (await allCommands()).flatMap((command) => [
    { kind: 'heading', level: 2, text: `\`workcell ${command.name}\`` },
    { kind: 'code', language: 'text', text: commandHelp(command).trimEnd() },
  ]);
  const intro =
    `${EXIT_CODES} An error is one line on standard error, \`Error: [CODE] message\`, with what helps below it; \`workcell call\`, and ` +
    'other commands with `--json`, print a failed call as JSON there. `WORKCELL_URL` or `III_URL` names the engine. Terminals get ' +
    'colours, unless `NO_COLOR` is set, and tables that fit them; a pipe gets whole cells.';
  return {
    slug: 'cli',
    title: 'Command line',
    blocks: [{ kind: 'heading', level: 1, text: 'Command line' }, { kind: 'text', text: intro }, ...blocks],
  };
}

function read(name) {
  return existsSync(DOCS + name) ? readFileSync(DOCS + name, 'utf8') : undefined;
}

function workerErrors() {
  return availableWorkers.map(({ name, errors }) => ({ worker: name, errors: summariseErrors(errors) }));
}
