/** Live sandboxes, their usage, and a form to create one. */
import { useState } from 'preact/hooks';

import type { CallEvent } from '../../../src/protocol/call-event.ts';
import { bytes, duration, shortId } from '../format.ts';
import { useListKeys } from '../keys.ts';
import { FailureCard } from '../parts/failure-card.tsx';
import { Badge, Command, Empty, Facts, Row } from '../parts/layout.tsx';
import { goTo, hashOf, route } from '../route.ts';
import { call } from '../session.ts';
import { useWatch } from '../watching.ts';
import { SandboxConsole } from './sandbox-console.tsx';
import { SandboxFiles } from './sandbox-files.tsx';

interface Sandbox {
  sandbox_id: string;
  name?: string | null;
  image: string;
  age_secs: number;
  exec_in_flight?: number;
  isolation?: string;
  cpus?: number;
  memory_mb?: number;
  disk_mb?: number;
  network?: boolean;
  idle_deadline_secs?: number | null;
  usage?: { memory_bytes: number; pids: number; cpu_ms: number; disk_bytes: number };
}

interface Image {
  name: string;
  allowed?: boolean;
  cached?: boolean;
}

/** The first sandbox of an image waits for the image. */
const CREATE_TIMEOUT_MS = 600_000;

export function SandboxesPage() {
  const [sandboxes, setSandboxes] = useState<Sandbox[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const load = () =>
    call<{ sandboxes: Sandbox[] }>('sandbox::list').then(
      (reply) => (setSandboxes(reply.sandboxes), setError(undefined)),
      setError,
    );
  useWatch('sandbox::watch', load);
  const open = (id: string) => goTo({ page: 'sandboxes', open: id });
  useListKeys({
    keys: (sandboxes ?? []).map((one) => one.sandbox_id),
    open,
    close: () => goTo({ page: 'sandboxes' }),
  });
  const openSandbox = sandboxes?.find((one) => one.sandbox_id === route.value.open);

  return (
    <div class="split">
      <section class="pane-list" aria-label="Sandboxes">
        <CreateForm onMade={(id) => void load().then(() => open(id))} />
        <div class="scroll">
          {(sandboxes ?? []).map((one) => (
            <Row
              key={one.sandbox_id}
              id={one.sandbox_id}
              isOpen={one === openSandbox}
              onOpen={() => open(one.sandbox_id)}
            >
              <span class="mono cut grow">{one.name ?? shortId(one.sandbox_id)}</span>
              <span class="quiet">{one.image}</span>
              {one.isolation && <Badge kind={one.isolation}>{one.isolation}</Badge>}
            </Row>
          ))}
        </div>
      </section>
      <section class="pane-main" aria-label="Sandbox">
        {openSandbox ? (
          <SandboxCard key={openSandbox.sandbox_id} sandbox={openSandbox} onStopped={() => void load()} />
        ) : (
          <Empty title={sandboxes?.length ? 'Pick a sandbox' : 'No sandboxes'}>
            {error !== undefined && <FailureCard error={error} />}
            <p>A sandbox is a machine of its own, made from an image and thrown away. Create one here, or:</p>
            <Command text="workcell sandbox create python" />
            <p>To see what this host can isolate with:</p>
            <Command text="workcell doctor" />
          </Empty>
        )}
      </section>
    </div>
  );
}

function CreateForm({ onMade }: { onMade: (id: string) => void }) {
  const [images, setImages] = useState<Image[]>([]);
  const [image, setImage] = useState('');
  const [request, setRequest] = useState<'idle' | 'busy'>('idle');
  const [error, setError] = useState<unknown>(undefined);
  const [step, setStep] = useState('');
  useWatch('sandbox::watch', () =>
    call<{ images: Image[] }>('sandbox::catalog::list').then((reply) => {
      setImages(reply.images.filter(({ allowed }) => allowed !== false));
      setImage((chosen) => chosen || (reply.images.find(({ cached }) => cached)?.name ?? reply.images[0]?.name ?? ''));
    }, setError),
  );
  const create = (wanted: Record<string, unknown>) => {
    setRequest('busy');
    setError(undefined);
    const onEvent = ({ message }: CallEvent) => message !== undefined && setStep(message);
    return call<{ sandbox_id: string }>('sandbox::create', wanted, { timeoutMs: CREATE_TIMEOUT_MS, onEvent })
      .then((reply) => onMade(reply.sandbox_id), setError)
      .finally(() => (setRequest('idle'), setStep('')));
  };
  return (
    <form
      class="create"
      onSubmit={(event) => {
        event.preventDefault();
        void create({ image });
      }}
    >
      <select aria-label="Image" value={image} onChange={(event) => setImage(event.currentTarget.value)}>
        {images.map(({ name, cached }) => (
          <option key={name} value={name}>
            {name}
            {cached === false ? ' (fetched first)' : ''}
          </option>
        ))}
      </select>
      <button type="submit" class="primary" disabled={image === '' || request === 'busy'}>
        {request === 'busy' ? 'Creating …' : 'Create'}
      </button>
      {step !== '' && (
        <p class="quiet small" role="status">
          {step}
        </p>
      )}
      <p class="quiet small">
        With memory, disk, network and more:{' '}
        <a href={hashOf({ page: 'functions', open: 'sandbox::create' })}>every option</a>
      </p>
      {error !== undefined && <FailureCard error={error} onFix={(fix) => void create({ image, ...fix })} />}
    </form>
  );
}

function SandboxCard({ sandbox, onStopped }: { sandbox: Sandbox; onStopped: () => void }) {
  const { sandbox_id: id, usage } = sandbox;
  const [error, setError] = useState<unknown>(undefined);
  const stop = () => call('sandbox::stop', { sandbox_id: id, wait: true }).then(onStopped, setError);
  return (
    <div class="scroll pad">
      <header class="title">
        <h1 class="mono cut">{sandbox.name ?? id}</h1>
        {sandbox.isolation && <Badge kind={sandbox.isolation}>{sandbox.isolation}</Badge>}
        <button type="button" class="danger" onClick={() => void stop()}>
          Stop
        </button>
      </header>
      {error !== undefined && <FailureCard error={error} />}
      <Facts
        rows={[
          ['image', sandbox.image],
          ['age', duration(Math.max(1, sandbox.age_secs) * 1_000)],
          [
            'stops when idle in',
            sandbox.idle_deadline_secs == null ? 'in use' : duration(sandbox.idle_deadline_secs * 1_000 + 1),
          ],
          ['processors', sandbox.cpus ?? '—'],
          ['memory', <Meter used={usage?.memory_bytes} limit={(sandbox.memory_mb ?? 0) * 1_048_576} />],
          ['disk', <Meter used={usage?.disk_bytes} limit={(sandbox.disk_mb ?? 0) * 1_048_576} />],
          ['processor time', usage ? duration(usage.cpu_ms) : 'not reported'],
          ['processes', usage?.pids ?? 'not reported'],
          ['network', sandbox.network ? 'yes' : 'none'],
        ]}
      />
      <SandboxConsole id={id} />
      <SandboxFiles id={id} />
    </div>
  );
}

function Meter({ used, limit }: { used: number | undefined; limit: number }) {
  if (used === undefined) return <>{bytes(limit)} at most</>;
  return (
    <span class="meter">
      <i style={{ width: `${Math.min(100, (100 * used) / Math.max(1, limit))}%` }} />
      <span>
        {bytes(used)} of {bytes(limit)}
      </span>
    </span>
  );
}
