/** What stands between a sandbox and the host, as replies tell it. */
import { z } from 'zod';

export const IsolationSchema = z
  .enum(['hardware-vm', 'userspace-kernel', 'emulated-vm', 'namespaces'])
  .describe('What stands between the sandbox and the host; namespaces share its kernel.');

export const BackendSchema = z.string().describe('What the sandbox is made of, such as qemu+kvm or gvisor.');
