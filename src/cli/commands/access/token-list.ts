/** workcell token list: the tokens of the state directory, without their secrets. */
import { TokenFile } from '#access';
import type { Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { accessOptions, readAccess } from './access-options.ts';

export const tokenList: Command = {
  name: 'token list',
  summary: 'List the tokens that `token add` made.',
  details: 'Tokens of a configuration file (access.tokens) are not listed.',
  options: { json: { type: 'boolean', description: 'Print JSON.' }, ...accessOptions },
  maxWords: 0,

  run({ options }) {
    const { stateDir } = readAccess(options);
    const tokens = new TokenFile(stateDir).list().map(({ sha256: _, ...shown }) => shown);
    const rows = tokens.map(({ name, policy, added_at_ms, expires_at_ms }) => [
      ...[name, policy ?? 'everything', new Date(added_at_ms).toISOString().slice(0, 10)],
      expires_at_ms === undefined ? 'never' : expiryText(expires_at_ms),
    ]);
    const shown = { head: ['NAME', 'POLICY', 'ADDED', 'EXPIRES'], rows };
    printReply(options, { tokens }, () => (rows.length === 0 ? 'There are no tokens.\n' : shown));
    return Promise.resolve(EXIT.ok);
  },
};

function expiryText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16)}Z${atMs <= Date.now() ? ' (over)' : ''}`;
}
