/** A tar archive written block by block, so that it can also contain entries that no tool would write. */

export interface TestEntry {
  name: string;
  /** The type byte; a file unless said. */
  flag?: string;
  content?: string | Uint8Array;
  /** The size in the header, if it is not the real one. */
  size?: number;
  mode?: number;
  uid?: number;
  gid?: number;
  mtimeSecs?: number;
  linkName?: string;
  /** Records of a pax header in front of the entry. */
  pax?: Record<string, string>;
}

const BLOCK_BYTES = 512;

export function tarArchive(entries: readonly TestEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * BLOCK_BYTES)]);
}

function blocksOf(entry: TestEntry): Buffer[] {
  const content = Buffer.from(entry.content ?? '');
  const blocks = [headerOf(entry, entry.size ?? content.length), padded(content)];
  if (!entry.pax) return blocks;

  const records = Object.entries(entry.pax).map(([key, value]) => paxRecord(key, value));
  const body = Buffer.from(records.join(''));
  return [headerOf({ name: 'pax', flag: 'x' }, body.length), padded(body), ...blocks];
}

function headerOf(entry: TestEntry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(entry.name, 0, 100);
  block.write(octal(entry.mode ?? 0o644, 7), 100);
  block.write(octal(entry.uid ?? 0, 7), 108);
  block.write(octal(entry.gid ?? 0, 7), 116);
  if (size < 8 ** 11) block.write(octal(size, 11), 124);
  else block.writeUIntBE(size, 130, 6);
  if (size >= 8 ** 11) block[124] = 0x80;
  block.write(octal(entry.mtimeSecs ?? 1_000_000_000, 11), 136);
  block.write(entry.flag ?? '0', 156);
  block.write(entry.linkName ?? '', 157, 100);
  block.write('ustar\0' + '00', 257, 'latin1');
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

/** The length prefix includes itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const length = bytes + String(bytes + String(bytes).length).length;
  return `${length}${rest}`;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES)]);
}
