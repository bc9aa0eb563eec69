/**
 * The name of a template: a hash of everything it was made of.
 *
 * A template works only with its own QEMU, kernel, agent, image and size. Any change gives another name, so an outdated
 * template is never used.
 */
import { hash } from 'node:crypto';

import type { Accelerator } from '../accelerators.ts';

/** Increase it when the contents of a template, or its warm-up, change. */
const FORMAT = 1;

export interface TemplateIngredients {
  /** Digest of the kernel, the modules, the agent and the image. */
  readonly digest: string;
  /** Version as QEMU prints it. */
  readonly qemuVersion: string;
  readonly accelerator: Accelerator;
  /** The host's processor, which an accelerated guest has seen. */
  readonly processor: string;
  /** All arguments of the machine, which include its processor, devices and size. */
  readonly args: readonly string[];
  readonly diskMb: number;
  readonly ram: 'file' | 'stream';
}

export function templateKey(ingredients: TemplateIngredients): string {
  const { digest, qemuVersion, accelerator, processor, args, diskMb, ram } = ingredients;
  return hash('sha256', JSON.stringify([FORMAT, digest, qemuVersion, accelerator, processor, args, diskMb, ram]));
}
