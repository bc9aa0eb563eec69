/** Chooses one node of the cluster for a list; renders nothing outside a cluster. */
import { nodes } from '../live/nodes.ts';
import { goTo, route } from '../route.ts';

export function NodeFilter() {
  const { node, ...rest } = route.value;
  if (nodes.value.length === 0) return null;
  return (
    <select
      class="caller-filter"
      aria-label="Node"
      value={node ?? ''}
      onChange={({ currentTarget: { value } }) => goTo({ ...rest, ...(value !== '' && { node: value }) })}
    >
      <option value="">All nodes</option>
      {nodes.value.map(({ name, self }) => (
        <option key={name} value={name}>
          {self ? `${name} (this)` : name}
        </option>
      ))}
    </select>
  );
}
