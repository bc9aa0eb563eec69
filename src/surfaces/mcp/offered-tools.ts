/**
 * The tools of one MCP surface, from the catalogue.
 *
 * Lists read all of it. A call of a tool that was listed reads nothing; on a read-only surface it reads the function's
 * own row, since its effect may have changed since.
 */
import { didYouMean, readCatalogue, type Bus, type CatalogueEntry, type Grants } from '#contract';
import { DEFAULT_PROFILE, isAgentFunction, isLookOnly } from './profiles.ts';
import { toTools, type NamesTaken, type OfferedTool, type ToolProfile } from './tools.ts';

export class Offer {
  readonly namespace: string;
  readonly #bus: Bus;
  readonly #profile: ToolProfile;
  readonly #names: NamesTaken = new Map();
  readonly #first: Promise<unknown>;
  /** Tools as of the last reading of the catalogue. */
  #tools = new Map<string, OfferedTool>();
  #grants: Grants | undefined;

  constructor(bus: Bus, profile: ToolProfile = {}) {
    this.#bus = bus;
    this.#profile = { ...profile, isReadOnly: profile.isReadOnly === true || isLookOnly(profile.profiles) };
    this.namespace = profile.namespace ?? 'default';
    // Reads early, so that functions get their names before any other peer can connect.
    this.#first = this.#read();
    this.#first.catch(() => {});
  }

  /**
   * The chosen functions, for the engine to limit callers to; a tool name stands for the id that has it now. Includes
   * the functions that a function of agent calls, because it needs them; calls that a foreign function declares are
   * ignored. Returns the same object until the catalogue is read again.
   */
  get grants(): Grants {
    return (this.#grants ??= this.#makeGrants());
  }

  async tools(): Promise<Map<string, OfferedTool>> {
    await this.#first;
    return this.#read();
  }

  /** The function id for a tool name, or the error message for the client. */
  async find(name: string): Promise<{ id: string } | { problem: string }> {
    await this.#first;
    const id = this.#names.get(name);
    return id !== undefined && (await this.#isOffered(name, id)) ? { id } : this.findAnew(name);
  }

  /** The same lookup in the current catalogue. */
  async findAnew(name: string): Promise<{ id: string } | { problem: string }> {
    const tools = await this.#read();
    const tool = tools.get(name);
    return tool ? { id: tool.entry.id } : { problem: `no tool ${name}${didYouMean(name, [...tools.keys()])}` };
  }

  async entryOf(functionId: string): Promise<CatalogueEntry | undefined> {
    const entries = await readCatalogue(this.#bus, { prefix: functionId, namespace: this.#profile.namespace });
    return entries.find(({ id, namespace }) => id === functionId && namespace === this.namespace);
  }

  /** Checks again: a function may have been replaced since it was listed, by one with another effect. */
  async #isOffered(name: string, id: string): Promise<boolean> {
    if (!this.#tools.has(name)) return false;
    if (this.#profile.isReadOnly !== true) return true;
    return (await this.entryOf(id))?.effect === 'read';
  }

  #makeGrants(): Grants {
    const { only, isReadOnly } = this.#profile;
    const behind = [...this.#tools.values()].flatMap(({ entry }) =>
      isAgentFunction(entry) ? (entry.calls ?? []) : [],
    );
    return { only: only?.flatMap((word) => [word, this.#names.get(word) ?? word]).concat(behind), isReadOnly };
  }

  async #read(): Promise<Map<string, OfferedTool>> {
    // Shared functions of a node are only in the list of its own name.
    const catalogue = await readCatalogue(this.#bus, { namespace: this.#profile.namespace });
    this.#tools = toTools(catalogue, this.#withDefault(catalogue), this.#names);
    this.#grants = undefined;
    return this.#tools;
  }

  /** Without a choice of tools, applies the default profile, or offers everything if no agent is served. */
  #withDefault(catalogue: readonly CatalogueEntry[]): ToolProfile {
    const { profiles, only } = this.#profile;
    if (profiles !== undefined || only !== undefined) return this.#profile;
    const hasAgent = catalogue.some((entry) => entry.namespace === this.namespace && isAgentFunction(entry));
    return hasAgent ? { ...this.#profile, profiles: [DEFAULT_PROFILE] } : this.#profile;
  }
}
