/**
 * Profiles: which functions are listed as tools. The engine alone decides which calls are allowed.
 *
 * The tools of `agent` have bare names, because models choose by name. The engine lets no other peer claim the name of
 * a worker in its process, so no foreign function gets a bare name.
 */
import { didYouMean, type CatalogueEntry } from '#contract';
import { workerSegment } from '#protocol';

/** The worker whose functions are the tools of a coding agent. */
const AGENT = 'agent';

export const PROFILES = ['coding', 'look', 'all', 'coder', 'shell', 'filesystem', 'sandbox'] as const;
export type Profile = (typeof PROFILES)[number];

/** The profile where none is chosen; an engine without the worker agent offers everything instead. */
export const DEFAULT_PROFILE: Profile = 'coding';

export class UnknownProfile extends Error {
  override readonly name = 'UnknownProfile';

  constructor(word: string) {
    super(`no profile "${word}"${didYouMean(word, PROFILES)}; the profiles are ${PROFILES.join(', ')}`);
  }
}

/** Reads `coding,sandbox`; throws `UnknownProfile`. */
export function parseProfiles(text: string): Profile[] {
  const words = text.split(',').map((word) => word.trim());
  return words.map((word) => {
    const known = PROFILES.find((profile) => profile === word);
    if (known) return known;
    throw new UnknownProfile(word);
  });
}

export function isAgentFunction({ id, worker }: Pick<CatalogueEntry, 'id' | 'worker'>): boolean {
  return worker === AGENT && workerSegment(id) === AGENT;
}

/** Whether one of the profiles lists the function. */
export function isListed(entry: CatalogueEntry, profiles: readonly Profile[]): boolean {
  return profiles.some((profile) => {
    if (profile === 'all') return !isAgentFunction(entry);
    if (profile === 'coding') return isAgentFunction(entry);
    if (profile === 'look') return isAgentFunction(entry) && entry.effect === 'read';
    return workerSegment(entry.id) === profile;
  });
}

/** `look` alone limits calls to reading functions; with another profile it only adds tools. */
export function isLookOnly(profiles: readonly Profile[] | undefined): boolean {
  return profiles !== undefined && profiles.length > 0 && profiles.every((profile) => profile === 'look');
}

/** `agent::read` as `read`. */
export function bareName({ id }: CatalogueEntry): string {
  return id.slice(AGENT.length + 2);
}
