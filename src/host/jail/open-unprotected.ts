/** Opens a file or directory so that the error for a protected path does not reveal whether it exists. */
import { HostError } from '../host-error.ts';
import type { JailDir } from './jail-dir.ts';
import type { JailFile } from './jail-file.ts';
import type { Jail } from './jail.ts';

export function openFile(jail: Jail, path: string): JailFile {
  return opened(jail, path, () => jail.open(path));
}

/** Unlike `jail.openDir`, refuses to list a protected directory. */
export function openDirectory(jail: Jail, path: string): JailDir {
  const dir = opened(jail, path, () => jail.openDir(path));
  if (!jail.isProtected(dir.relativePath)) return dir;

  dir.close();
  throw new HostError('protected', path);
}

function opened<T>(jail: Jail, path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof HostError && isDenied(jail, path)) throw new HostError('protected', path);
    throw error;
  }
}

function isDenied(jail: Jail, path: string): boolean {
  try {
    jail.target(path).close();
    return false;
  } catch (error) {
    return error instanceof HostError && error.reason === 'protected';
  }
}
