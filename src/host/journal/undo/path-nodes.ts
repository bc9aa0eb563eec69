/** Values by path, with a lookup of those below a path that does not scan all of them: a plan has thousands. */
export class PathNodes<T> {
  readonly #values = new Map<string, T>();
  /** By directory: the names in it that have a value, or one below them. */
  readonly #names = new Map<string, Set<string>>();

  get(path: string): T | undefined {
    return this.#values.get(path);
  }

  set(path: string, value: T): void {
    this.#values.set(path, value);
    for (let at = path; at !== ''; at = directoryOf(at)) {
      const directory = directoryOf(at);
      const names = this.#names.get(directory) ?? new Set();
      const name = nameOf(at);
      // A known name means that its parents are known too.
      if (names.has(name)) return;
      names.add(name);
      this.#names.set(directory, names);
    }
  }

  /** Names right below a directory that have a value, or one below them. */
  namesIn(directory: string): Iterable<string> {
    return this.#names.get(directory) ?? [];
  }

  hasBelow(directory: string): boolean {
    return this.#names.has(directory);
  }

  /** Removes and returns everything below a directory. */
  takeBelow(directory: string): [string, T][] {
    const taken: [string, T][] = [];
    const left = [directory];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      const names = this.#names.get(at) ?? [];
      this.#names.delete(at);
      for (const name of names) {
        const path = `${at}/${name}`;
        const value = this.#values.get(path);
        if (value !== undefined) taken.push([path, value]);
        this.#values.delete(path);
        left.push(path);
      }
    }
    return taken;
  }
}

/** Empty for a name without a directory. */
function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
