/** Rows of entries as the agent sends them: fixed fields, then the name. A row may span pieces. */
import { ProtocolError } from './frames.ts';

export interface Row {
  kind: 'file' | 'directory' | 'symlink' | 'other' | 'unreadable';
  mode: number;
  uid: number;
  gid: number;
  /** The errno, for an unreadable entry. */
  sizeBytes: number;
  mtimeSecs: number;
  name: string;
}

const KINDS: Record<string, Row['kind']> = {
  f: 'file',
  d: 'directory',
  l: 'symlink',
  o: 'other',
  e: 'unreadable',
};

const ROW_BYTES = 31;

/** The row at the start of the bytes, if it is complete. */
export function readRow(bytes: Buffer, at = 0): { row: Row; end: number } | undefined {
  if (bytes.length - at < ROW_BYTES) return undefined;
  const end = at + ROW_BYTES + bytes.readUInt16LE(at + 29);
  if (bytes.length < end) return undefined;

  const kind = KINDS[String.fromCharCode(bytes[at]!)];
  if (!kind) throw new ProtocolError('payload', `a row of kind ${bytes[at]}`);
  const row = {
    kind,
    mode: bytes.readUInt32LE(at + 1) & 0o7777,
    uid: bytes.readUInt32LE(at + 5),
    gid: bytes.readUInt32LE(at + 9),
    sizeBytes: Number(bytes.readBigUInt64LE(at + 13)),
    mtimeSecs: Math.max(0, Number(bytes.readBigInt64LE(at + 21))),
    name: bytes.toString('utf8', at + ROW_BYTES, end),
  };
  return { row, end };
}

/** Rows as they arrive, many at a time. */
export async function* rowsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Row[]> {
  let rest = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const rows: Row[] = [];
    let at = 0;
    for (let next = readRow(bytes, at); next; next = readRow(bytes, at)) {
      rows.push(next.row);
      at = next.end;
    }
    rest = Buffer.from(bytes.subarray(at));
    yield rows;
  }
  if (rest.length > 0) throw new ProtocolError('payload', 'the rows end in the middle of one');
}
