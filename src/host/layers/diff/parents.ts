/** The directories above paths. */

/** Every directory above one of the paths. */
export function parentsOf(rows: Iterable<{ readonly path: string }>): Set<string> {
  const parents = new Set<string>();
  for (const { path } of rows) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const parent = path.slice(0, end);
      if (parents.has(parent)) break;
      parents.add(parent);
    }
  }
  return parents;
}

/** Whether a path is one of the given ones or below one. */
export function isWithin(path: string, above: readonly string[]): boolean {
  return above.some((one) => one === '' || path === one || path.startsWith(`${one}/`));
}
