/**
 * The tools of one MCP surface, from the catalogue.
 *
 * Lists read all of it. A call reads nothing, since name and id show whether it is offered; on a read-only surface it
 * reads the function's own row, since its effect may have changed since it was listed.
 */
import { didYouMean, readCatalogue, type Bus, type CatalogueEntry, type Grants } from '#contract';
import { isChosen, isOffered, toTools, type NamesTaken, type OfferedTool, type ToolProfile } from './tools.ts';

export class Offer {
  readonly namespace: string;
  readonly #bus: Bus;
  readonly #profile: ToolProfile;
  readonly #names: NamesTaken = new Map();
  readonly #first: Promise<unknown>;

  constructor(bus: Bus, profile: ToolProfile = {}) {
    this.#bus = bus;
    this.#profile = profile;
    this.namespace = profile.namespace ?? 'default';
    // Functions that exist before any other peer can connect get their names now.
    this.#first = this.#read();
    this.#first.catch(() => {});
  }

  /** The offered functions, for the engine to limit callers to; a tool name stands for the id that has it now. */
  get grants(): Grants {
    const { only, isReadOnly } = this.#profile;
    return { only: only?.flatMap((word) => [word, this.#names.get(word) ?? word]), isReadOnly };
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

  /** The same from the current catalogue. */
  async findAnew(name: string): Promise<{ id: string } | { problem: string }> {
    const tools = await this.#read();
    const tool = tools.get(name);
    return tool ? { id: tool.entry.id } : { problem: `no tool ${name}${didYouMean(name, [...tools.keys()])}` };
  }

  async entryOf(functionId: string): Promise<CatalogueEntry | undefined> {
    const entries = await readCatalogue(this.#bus, { prefix: functionId });
    return entries.find(({ id, namespace }) => id === functionId && namespace === this.namespace);
  }

  async #isOffered(name: string, id: string): Promise<boolean> {
    if (this.#profile.isReadOnly !== true) return isChosen(name, id, this.#profile);
    const entry = await this.entryOf(id);
    return entry !== undefined && isOffered(name, entry, this.#profile);
  }

  async #read(): Promise<Map<string, OfferedTool>> {
    return toTools(await readCatalogue(this.#bus), this.#profile, this.#names);
  }
}
