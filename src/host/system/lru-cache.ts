/** LRU cache with a total weight. */
export class LruCache<Key, Value> {
  readonly #maxWeight: number;
  /** In order of use: a map keeps insertion order. */
  readonly #entries = new Map<Key, { value: Value; weight: number }>();
  #weight = 0;

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** A value heavier than the whole cache is not kept. */
  set(key: Key, value: Value, weight: number): void {
    this.delete(key);
    if (weight > this.#maxWeight) return;

    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) break;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}
