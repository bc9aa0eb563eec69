/**
 * A template: a machine that booted once and was stopped while its agent waited for a first request.
 *
 * Its memory is a file and its devices a small state. Every clone maps the file privately, so it costs no copy; its
 * changes are its own. No file of a template is ever rewritten, because machines have it mapped.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { z } from 'zod';

const Facts = z.object({
  machine: z.enum(['microvm', 'q35', 'virt']),
  /** How the memory is kept: in the file that was the memory, or in the state as a stream of pages. */
  ram: z.enum(['file', 'stream']),
});

export type TemplateFacts = z.output<typeof Facts>;
export type RamMode = TemplateFacts['ram'];

export class Template {
  readonly dir: string;
  readonly facts: TemplateFacts;

  constructor(dir: string, facts: TemplateFacts) {
    this.dir = dir;
    this.facts = facts;
  }

  static open(dir: string): Template {
    return new Template(dir, Facts.parse(JSON.parse(readFileSync(join(dir, 'template.json'), 'utf8'))));
  }

  /** Writes the record that `open` reads. */
  finish(): void {
    writeFileSync(join(this.dir, 'template.json'), JSON.stringify(this.facts), { flush: true });
  }

  /** Undefined when the state contains the memory too. */
  get memory(): string | undefined {
    return this.facts.ram === 'file' ? join(this.dir, 'memory') : undefined;
  }

  get scratch(): string {
    return join(this.dir, 'scratch');
  }

  get state(): string {
    return join(this.dir, 'state');
  }

  get files(): string[] {
    return [this.scratch, this.state, ...(this.memory === undefined ? [] : [this.memory])];
  }
}
