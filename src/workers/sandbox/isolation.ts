/** The kinds of isolation between a sandbox and the host, strongest first. */
import { z } from 'zod';

export const ISOLATIONS = ['hardware-vm', 'userspace-kernel', 'emulated-vm', 'namespaces'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

export const IsolationSchema = z
  .enum(ISOLATIONS)
  .describe('What stands between the sandbox and the host; namespaces share its kernel.');

export const BackendSchema = z.string().describe('What the sandbox is made of, such as qemu+kvm or gvisor.');
