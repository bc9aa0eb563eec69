/**
 * Chooses the machine of a new sandbox: the better of two at random, by their last reports.
 *
 * The best of all would get every sandbox that is created before its next report.
 */
import { hash } from 'node:crypto';

import type { FleetHost } from '#contract';
import type { FreeSlots } from './free-slots.ts';

const MOST_DRAWS = 16;

export interface Wish {
  readonly image: string;
  /** The only acceptable machine. */
  readonly node?: string | null | undefined;
  /** Memory and disk together, as far as the caller set them. */
  readonly sizeMb: number;
  /** The only acceptable isolation. */
  readonly isolation?: string | null | undefined;
  /** Whether a machine that has not reported its isolation yet is acceptable. */
  readonly triesUnknown?: boolean;
}

interface Choice {
  readonly wish: Wish;
  readonly slots: FreeSlots;
  /** Ids of machines that were tried. */
  readonly tried?: ReadonlySet<string>;
  readonly random?: () => number;
}

/** Undefined if no machine is acceptable. */
export function chooseHost(
  hosts: readonly FleetHost[],
  { wish, slots, tried, random = Math.random }: Choice,
): FleetHost | undefined {
  const takesIt = (host: FleetHost) => fits(host, wish) && !tried?.has(host.id) && slots.free(host) > 0;
  const [a, b] = drawTwo(hosts, takesIt, random) ?? pickTwo(hosts.filter(takesIt), random);
  if (!a || !b) return a;
  const [hasA, hasB] = [hasImage(a, wish.image), hasImage(b, wish.image)];
  if (hasA !== hasB) return hasA ? a : b;
  return slots.free(b) > slots.free(a) ? b : a;
}

type Two = readonly [FleetHost | undefined, FleetHost | undefined];

/**
 * Draws at random, because most of many machines have room: a few draws find two without checking all. Undefined if
 * they do not.
 */
function drawTwo(
  hosts: readonly FleetHost[],
  takesIt: (host: FleetHost) => boolean,
  random: () => number,
): Two | undefined {
  if (hosts.length <= MOST_DRAWS) return undefined;
  let first: FleetHost | undefined;
  for (let draws = 0; draws < MOST_DRAWS; draws++) {
    const host = hosts[Math.floor(random() * hosts.length)]!;
    if (host === first || !takesIt(host)) continue;
    if (first) return [first, host];
    first = host;
  }
  return undefined;
}

function pickTwo(fitting: readonly FleetHost[], random: () => number): Two {
  const first = Math.floor(random() * fitting.length);
  const second = Math.floor(random() * (fitting.length - 1));
  return [fitting[first], fitting[second < first ? second : second + 1]];
}

export function hasImage({ sandboxes }: FleetHost, image: string): boolean {
  return sandboxes.images.includes(imageMark(image));
}

/** The mark by which reports name an image. */
export function imageMark(image: string): string {
  return hash('sha256', image).slice(0, 12);
}

/** Whether a sandbox fits, by the machine's report alone. */
export function fits({ name, isDraining, sandboxes }: FleetHost, wish: Wish): boolean {
  const { node, sizeMb, isolation, triesUnknown = false } = wish;
  if (isDraining || sandboxes.places < 1 || (node != null && node !== name)) return false;
  if (isolation != null && sandboxes.isolation !== isolation && !(triesUnknown && sandboxes.isolation === undefined)) {
    return false;
  }
  // The first sandbox of a machine may take more than the share of all.
  return sizeMb <= sandboxes.memory_free_mb || sandboxes.living + sandboxes.starting === 0;
}
