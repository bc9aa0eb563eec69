/** Reads announcements of peers into the directory. */
import type { Log } from '#contract';
import type { Blocks } from './blocks.ts';
import { FarCatalogues } from './catalogue.ts';
import type { Directory } from './directory.ts';
import type { Peer } from './peer.ts';

interface CataloguesParts {
  blocks: Blocks;
  directory: Directory;
  peers: ReadonlyMap<string, Peer>;
  log: Log;
}

export class Catalogues {
  readonly #parts: CataloguesParts;
  readonly #far: FarCatalogues;

  constructor(parts: CataloguesParts) {
    this.#parts = parts;
    this.#far = new FarCatalogues((hash, from) => parts.blocks.fetch(hash, from));
  }

  /** The catalogue that the peer's last report names. */
  async read(peer: Peer): Promise<void> {
    const { directory, peers, log } = this.#parts;
    const hash = peer.report!.catalogue!;
    try {
      const workers = await this.#far.read(hash, peer.address);
      if (peers.get(peer.address.id) !== peer || peer.report?.catalogue !== hash) return;
      directory.set(peer, workers);
      this.dropUnused();
    } catch (error) {
      log.warn('the functions of a node could not be read', { node: peer.address.name, why: String(error) });
      // Makes the next report count as a change.
      if (peer.report?.catalogue === hash) peer.report.catalogue = undefined;
    }
  }

  dropUnused(): void {
    this.#far.keepOnly(this.#parts.directory.announced);
  }
}
