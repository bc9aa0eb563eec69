/** The facts for the operator's policy about a function, in words. */
import type { CatalogueEntry } from '#contract';

type Described = Pick<CatalogueEntry, 'permissions' | 'risk' | 'side_effects' | 'constraints'>;

/** A label and values each; omits undeclared ones. */
export function policyRows(entry: Described): [string, string[]][] {
  const rows: [string, string[] | undefined][] = [
    ['Permissions', entry.permissions],
    ['Risk', entry.risk && [entry.risk]],
    ['Side effects', entry.side_effects],
    ['Constraints', entry.constraints],
  ];
  return rows.flatMap(([label, values = []]) => (values.length > 0 ? [[label, values]] : []));
}
