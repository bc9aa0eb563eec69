/** Brings an image to a machine that lacks it, from one that has it and got it from no registry. */
import type { CallScope, Fleet, FleetHost } from '#contract';
import { callHost } from './call-host.ts';
import { hasImage } from './choose-host.ts';
import { exportImage, importImage, Offered } from './images.ts';

/** Most machines that are asked for the image. */
const MOST_ASKED = 2;

export class ImageBringer {
  readonly #fleet: Fleet;
  /** Running copies by machine and image: calls that want the same one wait together. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Always resolves: a machine that did not get the image tries its other sources, or reports why it cannot. */
  async bring(image: string, host: FleetHost, scope: CallScope): Promise<void> {
    if (hasImage(host, image)) return;
    const key = `${host.id} ${image}`;
    const running = this.#running.get(key) ?? this.#copy(image, host, scope).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    await running;
  }

  async #copy(image: string, to: FleetHost, scope: CallScope): Promise<void> {
    const owners = this.#fleet.hosts().filter((host) => host.id !== to.id && hasImage(host, image));
    const start = Math.floor(Math.random() * owners.length);
    for (const from of [...owners.slice(start), ...owners.slice(0, start)].slice(0, MOST_ASKED)) {
      try {
        const options = { takesEncoded: false };
        const sent = await callHost(from.name, exportImage, { payload: { image }, scope, options });
        await callHost(to.name, importImage, { payload: { ...Offered.parse(sent), image }, scope });
        return scope.log.info('an image was copied between machines', { image, from: from.name, to: to.name });
      } catch (error) {
        const why = (error as Error).message;
        scope.log.info('an image was not copied between machines', { image, from: from.name, to: to.name, why });
      }
    }
  }
}
