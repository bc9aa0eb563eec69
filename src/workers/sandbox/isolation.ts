/** The kinds of isolation between a sandbox and the host, strongest first. */
import { z } from 'zod';

export const ISOLATIONS = ['hardware-vm', 'userspace-kernel', 'emulated-vm', 'namespaces'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

export const IsolationSchema = z
  .enum(ISOLATIONS)
  .describe('Isolation between the sandbox and the host; namespaces share its kernel.');

export const BackendSchema = z.string().describe('Isolation backend, such as qemu+kvm or gvisor.');
