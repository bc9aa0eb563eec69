/**
 * The name of a template: a hash of everything it was made of.
 *
 * A template fits no other QEMU, kernel, agent, image or size than its own. Whatever changes gives another name, so an old
 * one is never tried.
 */
import { createHash } from 'node:crypto';

import type { Accelerator } from '../accelerators.ts';

/** Rises when what a template consists of, or how it is warmed up, changes. */
const FORMAT = 1;

export interface TemplateIngredients {
  /** Over the kernel, the modules, the agent and the image. */
  readonly digest: string;
  /** As QEMU prints it. */
  readonly qemuVersion: string;
  readonly accelerator: Accelerator;
  /** The host's, which an accelerated guest has seen. */
  readonly processor: string;
  /** All arguments of the machine, which name its processor, its devices and its size. */
  readonly args: readonly string[];
  readonly diskMb: number;
  readonly ram: 'file' | 'stream';
}

export function templateKey(ingredients: TemplateIngredients): string {
  const { digest, qemuVersion, accelerator, processor, args, diskMb, ram } = ingredients;
  return createHash('sha256')
    .update(JSON.stringify([FORMAT, digest, qemuVersion, accelerator, processor, args, diskMb, ram]))
    .digest('hex');
}
