/** A form that creates a sandbox from an image. */
import { useState } from 'preact/hooks';

import type { CallEvent } from '../../../src/protocol/call-event.ts';
import { FailureCard } from './failure-card.tsx';
import { hashOf } from '../route.ts';
import { call } from '../session.ts';
import { useWatch } from '../watching.ts';

interface Image {
  name: string;
  allowed?: boolean;
  cached?: boolean;
}

/** The first sandbox of an image waits for the image. */
const CREATE_TIMEOUT_MS = 600_000;

export function CreateForm({ onMade }: { onMade: (id: string) => void }) {
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
