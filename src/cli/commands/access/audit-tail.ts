/** workcell audit tail: the newest records of the audit, and with --follow those to come. */
import { setTimeout as wait } from 'node:timers/promises';

import { recordsOf } from '#access';
import { UsageError, valueOption, type Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { printText } from '../../print.ts';
import { untilSignal } from '../../until-signal.ts';
import { accessOptions, readAccess } from './access-options.ts';
import { auditFolders } from './audit-folders.ts';
import { recordLine, type AuditRecord } from './audit-record.ts';

const POLL_MS = 500;

export const auditTail: Command = {
  name: 'audit tail',
  summary: 'Print the newest records of the audit.',
  options: {
    lines: valueOption('N', 'Number of records.', { short: 'n', default: '20' }),
    follow: { type: 'boolean', short: 'f', description: 'Keep printing new records until Ctrl+C.' },
    json: { type: 'boolean', description: 'Print each record as a line of JSON.' },
    ...accessOptions,
  },
  maxWords: 0,

  async run({ options }) {
    const count = Number(options.lines);
    if (!Number.isInteger(count) || count < 0) {
      throw new UsageError(`--lines must be a whole number (got ${String(options.lines)})`);
    }
    const { stateDir } = readAccess(options);
    const print = (record: AuditRecord) =>
      printText(`${options.json === true ? JSON.stringify(record) : recordLine(record)}\n`);
    const seen = new Map<string, number>();
    const all = await newRecords(stateDir, seen);
    for (const record of count === 0 ? [] : all.slice(-count)) print(record);
    if (options.follow !== true) return EXIT.ok;

    let isStopped = false;
    const stopped = untilSignal().then(() => (isStopped = true));
    while (!isStopped) {
      await Promise.race([wait(POLL_MS, undefined, { ref: false }), stopped]);
      for (const record of await newRecords(stateDir, seen)) print(record);
    }
    return EXIT.ok;
  },
};

/** Records that were not seen before, by time. */
async function newRecords(stateDir: string, seen: Map<string, number>): Promise<AuditRecord[]> {
  const found: AuditRecord[] = [];
  for (const folder of auditFolders(stateDir)) {
    for await (const record of recordsOf(folder)) {
      const { seq = 0 } = record as AuditRecord;
      if (seq <= (seen.get(folder) ?? 0)) continue;
      seen.set(folder, seq);
      found.push(record);
    }
  }
  return found.toSorted((a, b) => (a.ts ?? 0) - (b.ts ?? 0));
}
