/**
 * Chooses the machine of a new sandbox: the better of two at random, by their last reports.
 *
 * The best of all would get every sandbox that is created before its next report.
 */
import { hash } from 'node:crypto';

import type { FleetHost, SandboxReport } from '#contract';

export interface Wish {
  readonly image: string;
  /** The only machine that will do. */
  readonly node?: string | null | undefined;
  /** Memory and disk, as far as the caller set them. */
  readonly sizeMb: number;
}

/** Places of machines, less those that were taken here since the report. */
export class Places {
  readonly #taken = new WeakMap<SandboxReport, number>();

  free({ sandboxes }: FleetHost): number {
    return sandboxes.places - (this.#taken.get(sandboxes) ?? 0);
  }

  /** Call the returned function if the machine did not take it. */
  take({ sandboxes }: FleetHost): () => void {
    this.#add(sandboxes, 1);
    return () => this.#add(sandboxes, -1);
  }

  #add(report: SandboxReport, count: number): void {
    this.#taken.set(report, (this.#taken.get(report) ?? 0) + count);
  }
}

/** Undefined when none takes it. */
export function chooseHost(
  hosts: readonly FleetHost[],
  wish: Wish,
  places: Places,
  random: () => number = Math.random,
): FleetHost | undefined {
  const fitting = hosts.filter((host) => fits(host, wish) && places.free(host) > 0);
  const first = Math.floor(random() * fitting.length);
  const second = Math.floor(random() * (fitting.length - 1));
  const [a, b] = [fitting[first], fitting[second < first ? second : second + 1]];
  if (!a || !b) return a;
  const [hasA, hasB] = [hasImage(a, wish.image), hasImage(b, wish.image)];
  if (hasA !== hasB) return hasA ? a : b;
  return places.free(b) > places.free(a) ? b : a;
}

export function hasImage({ sandboxes }: FleetHost, image: string): boolean {
  return sandboxes.images.includes(imageMark(image));
}

/** What reports name an image by. */
export function imageMark(image: string): string {
  return hash('sha256', image).slice(0, 12);
}

/** By its report alone. */
export function fits({ name, isDraining, sandboxes }: FleetHost, { node, sizeMb }: Wish): boolean {
  if (isDraining || sandboxes.places < 1 || (node != null && node !== name)) return false;
  // The first sandbox of a machine may take more than the share of all.
  return sizeMb <= sandboxes.memory_free_mb || sandboxes.living + sandboxes.starting === 0;
}
