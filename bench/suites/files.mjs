/**
 * Reading, listing, trees and edits beside the plain calls of Node and the peers' own tools.
 *
 * Each part makes its files in one folder, which is removed in the end.
 */
import {
  compareDeepLines,
  compareFolder,
  compareJail,
  compareLineEdits,
  compareResponse,
} from './files/against-node.mjs';
import { comparePeers } from './files/against-peers.mjs';
import { Corpus } from './files/corpus.mjs';
import { measureJournal } from './files/journal.mjs';
import { measurePatches } from './files/patch.mjs';
import { measureTurns } from './files/turns.mjs';

export const name = 'files';
export const description =
  'coder beside the plain ways in Node, in one process, and beside MCP servers for files, each in its own.';

export async function run(harness) {
  const corpus = new Corpus();
  try {
    await compareFolder(harness, corpus);
    await compareDeepLines(harness, corpus);
    await compareJail(harness, corpus);
    await compareLineEdits(harness);
    await compareResponse(harness, corpus);
    await measureJournal(harness, corpus);
    await measurePatches(harness, corpus);
    await comparePeers(harness, corpus);
    await measureTurns(harness, corpus);
  } finally {
    corpus.remove();
  }
}
