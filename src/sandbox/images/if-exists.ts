/** Reads or changes a file that another process may remove at any moment; undefined if it is missing. */
export function ifExists<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
