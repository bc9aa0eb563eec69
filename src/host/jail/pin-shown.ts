/**
 * Pins only visible paths: a hidden path fails with ENOENT, as a missing one does.
 *
 * A path is hidden if its canonical path is, or if any name in it is: a symlink called `.env` is as hidden as a file,
 * whatever its target.
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
      // Only ENOENT reveals nothing about a hidden path.
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      throw !isMissing && resolvesThrough(isHidden, parts, pinPath) ? changedMeanwhile('ENOENT') : error;
    }
    // Checks the pinned object's own path, since the names may resolve elsewhere by now. Without symlinks both are equal.
    const isPlain = pin?.relativePath === parts.join('/');
    const isHiddenItself = pin !== undefined && isHidden(pin.relativePath);
    if (!isHiddenItself && (isPlain || !resolvesThrough(isHidden, parts, pinPath))) return pin;
    pin?.close();
    throw changedMeanwhile('ENOENT');
  };
}

/** Whether any part of a path satisfies `isSuch`: canonical as far as it exists, as spelled after that. */
export function resolvesThrough(
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
