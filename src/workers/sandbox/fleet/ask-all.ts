/** One question to every machine with sandboxes, and the answers that came in time. */
import type { CallScope, Fleet, FleetHost } from '#contract';
import { callHost, type Called } from './call-host.ts';
import { tagOf } from './sandbox-tag.ts';

const ANSWER_MS = 3_000;

interface Answers<Reply> {
  readonly answers: { readonly host: FleetHost; readonly reply: Reply }[];
  /** Names of those that did not answer, or not as they should. */
  readonly unreachable: string[];
}

interface Question<Reply> {
  readonly payload?: unknown;
  /** Only this one. */
  readonly node?: string | undefined;
  readonly scope: CallScope;
  /** Throws when it does not fit. */
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

/** Rows that the machine owns, with its name: it cannot answer for another one's. */
export function ownRows<Row extends object>(
  { id: tag, name: node }: FleetHost,
  rows: readonly Row[],
  idOf: (row: Row) => string,
): (Row & { node: string })[] {
  return rows.filter((row) => tagOf(idOf(row)) === tag).map((row) => ({ ...row, node }));
}
