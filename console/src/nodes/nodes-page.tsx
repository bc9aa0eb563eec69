/** The nodes of the cluster, as this engine knows them. */
import { useState } from 'preact/hooks';

import { clock, duration, since } from '../format.ts';
import { useListKeys } from '../keys.ts';
import { Drain } from './drain.tsx';
import { isCutOff, nodes, type NodeRow } from '../live/nodes.ts';
import { Badge, Command, Empty, Facts, Row, SearchBox } from '../parts/layout.tsx';
import { Split } from '../parts/split.tsx';
import { goTo, hashOf, route } from '../route.ts';
import { isServed } from '../session.ts';
import { useSeconds } from '../watching.ts';

/** As in `src/cluster/limits.ts`. */
const LATE_MS = 3_000;
const KINDS = { up: 'running', draining: 'warning', 'cut off': 'failed' };

export function NodesPage() {
  const [search, setSearch] = useState('');
  useSeconds(nodes.value.some(isLate));
  const words = search.toLowerCase();
  const shown = nodes.value.filter((node) => wordsOf(node).includes(words));
  const open = (name: string) => goTo({ page: 'nodes', open: name });
  useListKeys({ keys: shown.map(({ name }) => name), open, close: () => goTo({ page: 'nodes' }) });
  const opened = nodes.value.find(({ name }) => name === route.value.open);

  return (
    <Split
      page="nodes"
      names={['Nodes', 'Node']}
      isOpen={route.value.open !== undefined}
      list={
        <>
          <h1 class="hidden">Nodes</h1>
          {isCutOff.value && (
            <p class="note" role="alert">
              No NATS server answers: this door is cut off. Calls on this node work; calls to other nodes fail.
            </p>
          )}
          <SearchBox label="Search nodes" value={search} onInput={setSearch} />
          <div class="scroll">
            {shown.map((node) => (
              <NodeLines key={node.name} node={node} isOpen={node === opened} onOpen={() => open(node.name)} />
            ))}
          </div>
        </>
      }
    >
      {opened ? <NodeCard key={opened.name} node={opened} /> : <Teach />}
    </Split>
  );
}

function wordsOf({ name, state, roles, aliases, labels }: NodeRow): string {
  const texts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [name, state, ...roles, ...aliases, ...texts].join(' ').toLowerCase();
}

/** The engine reports when a node becomes late, and when it is heard again. */
function isLate({ self, heard_ms_ago: ms }: NodeRow): boolean {
  return !self && ms > LATE_MS;
}

function heard(node: NodeRow): string {
  return node.self ? 'this node' : `heard ${isLate(node) ? since(node.heardAtMs) : 'just now'}`;
}

function living({ sandboxes }: NodeRow): string {
  return sandboxes ? `${sandboxes.living} of ${sandboxes.max} sandboxes` : 'no sandboxes';
}

function NodeLines({ node, isOpen, onOpen }: { node: NodeRow; isOpen: boolean; onOpen: () => void }) {
  return (
    <Row id={node.name} class="two-lines" isOpen={isOpen} onOpen={onOpen}>
      <span class="mono cut grow">{node.name}</span>
      <Badge kind={KINDS[node.state]}>{node.state}</Badge>
      <span class="quiet cut grow">
        {heard(node)} · {living(node)}
      </span>
      <span class="quiet" title="calls sent to it / received from it">
        {node.calls_out} / {node.calls_in}
      </span>
    </Row>
  );
}

function NodeCard({ node }: { node: NodeRow }) {
  const { name, sandboxes, labels } = node;
  const only = (page: 'calls' | 'sandboxes' | 'jobs') => <a href={hashOf({ page, node: name })}>{page}</a>;
  return (
    <div class="scroll pad">
      <header class="title">
        <h1 class="mono">{name}</h1>
        <Badge kind={KINDS[node.state]}>{node.state}</Badge>
      </header>
      {isServed('engine::nodes::drain') && <Drain node={node} />}
      <Facts
        rows={[
          ['last heard', heard(node)],
          ['joined', `${clock(node.joined_ms)}, ${duration(Math.max(1_000, Date.now() - node.joined_ms))} ago`],
          ['version', node.version],
          ['roles', node.roles.join(', ')],
          ['also called', node.aliases.join(', ') || 'by no other name'],
          [
            'labels',
            Object.entries(labels)
              .map(([key, value]) => `${key}=${value}`)
              .join(', ') || 'none',
          ],
          ['address', node.url ?? 'not reported'],
          ['functions', `${node.functions} for other nodes`],
          ['sandboxes', sandboxes ? `${living(node)}, ${sandboxes.places} slots free` : living(node)],
          ['isolation', sandboxes?.isolation ?? 'none'],
          ['calls', `${node.calls_out} sent to it, ${node.calls_in} received from it`],
        ]}
      />
      <p>
        Only of this node: {only('calls')} · {only('sandboxes')} · {only('jobs')}
      </p>
      <p>Its functions have its name as namespace:</p>
      <Command text={`workcell call engine::functions::list namespace=${name}`} />
    </div>
  );
}

function Teach() {
  return (
    <Empty title={nodes.value.length > 0 ? 'Pick a node' : 'This engine is by itself'}>
      <p>Several machines form a cluster through a NATS server. Each is a node with a name. To join one:</p>
      <Command text="workcell start --cluster nats://HOST:4222 --node NAME --share coder,shell" />
    </Empty>
  );
}
