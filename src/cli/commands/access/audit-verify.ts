/** workcell audit verify: checks every record of the audit against its chain. */
import { verifyChain } from '#access';
import type { Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { accessOptions, readAccess } from './access-options.ts';
import { auditFolders } from './audit-folders.ts';

export const auditVerify: Command = {
  name: 'audit verify',
  summary: 'Check that no record of the audit was changed, removed or reordered.',
  details: 'Exits with 1 and names the first fault when the audit is not whole.',
  options: { json: { type: 'boolean', description: 'Print JSON.' }, ...accessOptions },
  maxWords: 0,

  async run({ options }) {
    const { stateDir } = readAccess(options);
    const folders = auditFolders(stateDir);
    const chains = await Promise.all(folders.map(async (folder) => ({ folder, ...(await verifyChain(folder)) })));
    const isWhole = chains.every(({ fault }) => fault === undefined);
    printReply(options, { whole: isWhole, chains }, () => {
      if (chains.length === 0) return 'There is no audit yet.\n';
      return chains
        .map(
          ({ folder, records, fault }) =>
            `${fault === undefined ? 'whole ' : 'BROKEN'}  ${records} records  ${folder}${fault === undefined ? '' : `: ${fault}`}\n`,
        )
        .join('');
    });
    return isWhole ? EXIT.ok : EXIT.failed;
  },
};
