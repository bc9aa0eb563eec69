/** Live sandboxes with owner, age and use, and the one that is open. */
import { duration, shortId } from '../../format.ts';
import { useListKeys } from '../../keys.ts';
import { ageMs, idleText, loadSandboxes, sandboxes, sandboxesError, type ShownSandbox } from '../../live/machines.ts';
import { nodeOfSandbox, nodes } from '../../live/nodes.ts';
import { NodeFilter } from '../../nodes/node-filter.tsx';
import { FailureCard } from '../../parts/failure-card.tsx';
import { Badge, Command, Empty, Row } from '../../parts/layout.tsx';
import { CreateForm } from '../../parts/sandbox-create.tsx';
import { Split } from '../../parts/split.tsx';
import { goTo, route } from '../../route.ts';
import { useSeconds } from '../../watching.ts';
import { SandboxCard } from './sandbox-card.tsx';

export function SandboxesPage() {
  const { node } = route.value;
  const listed = (sandboxes.value ?? []).filter((one) => node === undefined || nodeOfSandbox(one) === node);
  useSeconds(listed.length > 0);
  const within = node === undefined ? {} : { node };
  const open = (id: string) => goTo({ page: 'sandboxes', open: id, ...within });
  useListKeys({ keys: listed.map((one) => one.sandbox_id), open, close: () => goTo({ page: 'sandboxes', ...within }) });
  const openId = route.value.open;
  const opened = listed.find((one) => one.sandbox_id === openId);

  return (
    <Split
      page="sandboxes"
      names={['Sandboxes', 'Sandbox']}
      isOpen={openId !== undefined}
      list={
        <>
          <h1 class="hidden">Sandboxes</h1>
          <CreateForm onMade={(id) => void loadSandboxes().then(() => open(id))} />
          <NodeFilter />
          <div class="scroll">
            {listed.map((one) => (
              <SandboxLines
                key={one.sandbox_id}
                sandbox={one}
                isOpen={one === opened}
                onOpen={() => open(one.sandbox_id)}
              />
            ))}
          </div>
        </>
      }
    >
      {opened ? (
        <SandboxCard key={opened.sandbox_id} sandbox={opened} />
      ) : (
        <Empty title={titleWithout(openId, listed.length)}>
          {sandboxesError.value !== undefined && <FailureCard error={sandboxesError.value} />}
          <p>A sandbox is a machine of its own, made from an image and thrown away. Create one here, or:</p>
          <Command text="workcell sandbox create python" />
          <p>To see what this host can isolate with:</p>
          <Command text="workcell doctor" />
        </Empty>
      )}
    </Split>
  );
}

function titleWithout(openId: string | undefined, count: number): string {
  if (openId !== undefined && sandboxes.value) return `Sandbox ${shortId(openId)} has ended`;
  return count > 0 ? 'Pick a sandbox' : 'No sandboxes';
}

interface SandboxLinesProps {
  sandbox: ShownSandbox;
  isOpen: boolean;
  onOpen: () => void;
}

function SandboxLines({ sandbox, isOpen, onOpen }: SandboxLinesProps) {
  const { sandbox_id: id, name, image, isolation, caller } = sandbox;
  return (
    <Row id={id} class="two-lines" isOpen={isOpen} onOpen={onOpen}>
      <span class="mono cut grow">
        {name ?? image} <span class="quiet">{name == null ? shortId(id) : `${image} · ${shortId(id)}`}</span>
      </span>
      {isolation && <Badge kind={isolation}>{isolation}</Badge>}
      <span class="quiet cut grow">
        {caller?.label ?? 'an unnamed caller'} · {idleText(sandbox)}
        {nodes.value.length > 0 && ` · on ${nodeOfSandbox(sandbox)}`}
      </span>
      <span class="quiet" title="age">
        {duration(ageMs(sandbox))}
      </span>
    </Row>
  );
}
