/** Sends one call to every machine with sandboxes, and returns the answers that came in time. */
import type { CallScope, Fleet, FleetHost } from '#contract';
import { callHost, type Called } from './call-host.ts';
import { tagOf } from './sandbox-tag.ts';

const ANSWER_MS = 3_000;

interface Answers<Reply> {
  readonly answers: { readonly host: FleetHost; readonly reply: Reply }[];
  /** Names of machines that did not answer, or answered wrongly. */
  readonly unreachable: string[];
}

interface Question<Reply> {
  readonly payload?: unknown;
  /** Asks only this machine. */
  readonly node?: string | undefined;
  readonly scope: CallScope;
  /** Parses a reply; throws for an invalid one. */
  readonly read: (reply: unknown) => Reply;
}

export async function askAll<Reply>(
  fleet: Fleet,
  fn: Called,
  { payload = {}, node, scope, read }: Question<Reply>,
): Promise<Answers<Reply>> {
  const hosts = fleet.hosts().filter(({ name }) => node === undefined || name === node);
  const unreachable: string[] = [];
  const ask = async (host: FleetHost) => {
    try {
      const options = { timeoutMs: ANSWER_MS, takesEncoded: false };
      return [{ host, reply: read(await callHost(host.name, fn, { payload, scope, options })) }];
    } catch {
      unreachable.push(host.name);
      return [];
    }
  };
  const answers = (await Promise.all(hosts.map(ask))).flat();
  return { answers, unreachable };
}

/** Rows that the machine owns, with its name: rows of other machines are dropped. */
export function ownRows<Row extends object>(
  { id: tag, name: node }: FleetHost,
  rows: readonly Row[],
  idOf: (row: Row) => string,
): (Row & { node: string })[] {
  return rows.filter((row) => tagOf(idOf(row)) === tag).map((row) => ({ ...row, node }));
}
