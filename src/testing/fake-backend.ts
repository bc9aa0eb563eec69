/** A backend whose probe result a test decides; it makes no machines. */
import type { Isolation, Probe, SandboxBackend } from '#workers/sandbox';

export interface FakeBackend extends SandboxBackend {
  /** Result of the next probe; a test changes it when the host changes. */
  answer: Probe;
  /** Result of `fingerprint()`. */
  programs: string;
  probes: number;
  /** Awaited before a probe answers. */
  beforeAnswer: () => Promise<void>;
}

export const yes: Probe = { ok: true, detail: 'fake' };

export const no = (reason: string): Probe => ({ ok: false, reason, stderrTail: '' });

const ISOLATION_OF: Record<string, Isolation> = {
  'qemu+kvm': 'hardware-vm',
  gvisor: 'userspace-kernel',
  'qemu+tcg': 'emulated-vm',
  namespaces: 'namespaces',
};

export function fakeBackend(rung: string, answer: Probe): FakeBackend {
  return {
    name: rung.split('+')[0]!,
    rung,
    isolation: ISOLATION_OF[rung]!,
    answer,
    programs: 'one',
    probes: 0,
    beforeAnswer: async () => {},
    fingerprint() {
      return this.programs;
    },
    async probe() {
      this.probes++;
      await this.beforeAnswer();
      return this.answer;
    },
    prepare: async () => {},
    create: () => Promise.reject(new Error('this backend makes no machines')),
    sweep: async () => {},
    close: async () => {},
  };
}
