/**
 * Pins only what is not hidden: a hidden path answers as the kernel answers for one where nothing is.
 *
 * Hidden is what the kernel found by its canonical path, and what was reached by a hidden name on the way: a symlink
 * called `.env` is as hidden as a file, wherever it leads.
 */
import { toBytes } from '../text/byte-string.ts';
import { changedMeanwhile, pathInside, type Bounds, type Pin, type PinPath } from './pin.ts';

export function pinShown(pinPath: PinPath, { isHidden }: Bounds): PinPath {
  if (!isHidden) return pinPath;

  return (parts) => {
    let pin: Pin | undefined;
    try {
      pin = pinPath(parts);
    } catch (error) {
      // Nothing is there; any other reason tells something of what is.
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      throw !isMissing && leadsThrough(isHidden, parts, pinPath) ? changedMeanwhile('ENOENT') : error;
    }
    // What is held is judged by itself: the names may lead elsewhere by now. Without a link they are its canonical path.
    const isPlain = pin?.relativePath === parts.join('/');
    const isHiddenItself = pin !== undefined && isHidden(pin.relativePath);
    if (!isHiddenItself && (isPlain || !leadsThrough(isHidden, parts, pinPath))) return pin;
    pin?.close();
    throw changedMeanwhile('ENOENT');
  };
}

/** Whether one of the paths on the way is such a one: canonical as far as something is there, as spelled from there on. */
export function leadsThrough(
  isSuch: (relativePath: string) => boolean,
  parts: readonly string[],
  pinPath: PinPath,
): boolean {
  let path = '';
  for (const [depth, name] of parts.entries()) {
    path = pathInside(path, toBytes(name));
    if (isSuch(path)) return true;
    path = relativePathOf(parts.slice(0, depth + 1), pinPath) ?? path;
  }
  return path !== '' && isSuch(path);
}

function relativePathOf(parts: readonly string[], pinPath: PinPath): string | undefined {
  try {
    const pin = pinPath(parts);
    pin?.close();
    return pin?.relativePath;
  } catch {
    return undefined;
  }
}
