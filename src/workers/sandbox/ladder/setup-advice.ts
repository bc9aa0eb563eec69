/** Recommends a backend to set up on a host, if one could help. */
import type { BackendDef } from '../backends/definition.ts';
import { BACKENDS } from '../backends/list.ts';
import { missingFor } from '../backends/needs.ts';

/** Backends for this host, best first. */
export function worthHaving(): BackendDef[] {
  return BACKENDS.filter((backend) => backend.worth() > 0).toSorted((a, b) => b.worth() - a.worth());
}

/** The name of the first of these that lacks a program; undefined when installing something would not help. */
export function worthSettingUp(wanted: Iterable<string>): string | undefined {
  const names = new Set(wanted);
  const rest = BACKENDS.filter((backend) => !worthHaving().includes(backend));
  return [...worthHaving(), ...rest].find((backend) => names.has(backend.name) && missingFor(backend).length > 0)?.name;
}
