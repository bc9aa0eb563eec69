/**
 * Writes an initramfs archive: cpio of the kind "newc", without checksums.
 *
 * Owners are root and times are zero, so the same entries give the same bytes.
 */

export interface CpioEntry {
  /** Path without a leading slash; its directory has to come before it. */
  readonly path: string;
  /** Type and permissions, as in `stat`. */
  readonly mode: number;
  readonly content?: Uint8Array;
  /** Numbers of a device node. */
  readonly device?: { major: number; minor: number };
}

export const FILE_TYPE = { file: 0o100000, directory: 0o040000, characterDevice: 0o020000 } as const;

const MAGIC = '070701';
const TRAILER: CpioEntry = { path: 'TRAILER!!!', mode: 0 };

export function cpioArchive(entries: readonly CpioEntry[]): Buffer {
  const parts = [...entries, TRAILER].flatMap((entry, index) => {
    const { path, mode, content = Buffer.alloc(0), device = { major: 0, minor: 0 } } = entry;
    const name = Buffer.from(`${path}\0`);
    const links = entry === TRAILER || (mode & FILE_TYPE.directory) === 0 ? 1 : 2;
    const inode = entry === TRAILER ? 0 : index + 1;
    // Inode, mode, owner, group, links, time, size, device of the file system (2), of the node (2), name, checksum.
    const fields = [inode, mode, 0, 0, links, 0, content.length, 0, 0, device.major, device.minor, name.length, 0];
    const header = Buffer.from(MAGIC + fields.map((field) => field.toString(16).padStart(8, '0')).join(''));
    return [padded(Buffer.concat([header, name])), padded(content)];
  });
  return Buffer.concat(parts);
}

function padded(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}
