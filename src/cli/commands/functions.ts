/** workcell functions: lists the functions of a running engine. */
import { readCatalogue } from '#contract';
import type { Command } from '../command.ts';
import { addressOptions, withEngine } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { printReply } from '../print.ts';

export const functions: Command = {
  name: 'functions',
  summary: 'List the functions of a running engine.',
  usage: '[prefix]',
  options: {
    all: { type: 'boolean', short: 'a', description: 'Show the engine’s own functions too.' },
    json: { type: 'boolean', description: 'Print the catalogue as JSON, schemas included.' },
    ...addressOptions,
  },
  examples: ['workcell functions', 'workcell functions coder::', 'workcell functions --json'],
  maxWords: 1,

  async run({ words: [prefix = ''], options }) {
    const catalogue = await withEngine(options, (bus) => readCatalogue(bus, { includeInternal: options.all === true }));
    const shown = catalogue.filter(({ id }) => id.startsWith(prefix));
    const rows = shown.map(({ id, effect = '', worker, summary }) => [id, effect, worker, summary]);
    const list = { head: ['FUNCTION', 'EFFECT', 'WORKER', 'SUMMARY'], rows };
    printReply(options, shown, () => (shown.length === 0 ? 'No functions. Is a worker connected?\n' : list));
    return EXIT.ok;
  },
};
