/**
 * A network that can be cut: a TCP proxy that swallows every byte while it is.
 *
 * New connections are accepted meanwhile and hear nothing, as behind a firewall that drops packets. What was swallowed
 * is lost, so the connections that lost something are closed when the network heals.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  near: Socket;
  far: Socket;
  hasLost: boolean;
}

export class CutNetwork implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #isCut = false;

  private constructor(targetPort: number) {
    this.#server = createServer((near) => {
      const pair = { near, far: connect(targetPort, '127.0.0.1'), hasLost: false };
      this.#pairs.add(pair);
      const end = () => {
        // The other end hears nothing of it either.
        if (this.#isCut) return void (pair.hasLost = true);
        this.#drop(pair);
      };
      const ways = [
        [near, pair.far],
        [pair.far, near],
      ] as const;
      for (const [from, to] of ways) {
        from.on('error', end).on('close', end);
        from.on('data', (bytes) => {
          if (this.#isCut) pair.hasLost = true;
          else if (!to.write(bytes)) from.pause();
        });
        to.on('drain', () => from.resume());
      }
    });
  }

  /** In front of a server at a `nats://` address of this machine. */
  static async before(url: string): Promise<CutNetwork> {
    const network = new CutNetwork(Number(new URL(url).port));
    await once(network.#server.listen(0, '127.0.0.1'), 'listening');
    return network;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  cut(): void {
    this.#isCut = true;
  }

  /** Cuts, and closes the near ends: clients that dialled notice at once, the server behind it does not. */
  hangUp(): void {
    this.cut();
    for (const { near } of this.#pairs) near.destroy();
  }

  heal(): void {
    this.#isCut = false;
    for (const pair of this.#pairs) if (pair.hasLost) this.#drop(pair);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isCut = false;
    for (const pair of this.#pairs) this.#drop(pair);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #drop(pair: Pair): void {
    pair.near.destroy();
    pair.far.destroy();
    this.#pairs.delete(pair);
  }
}
