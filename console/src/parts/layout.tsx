/** Layout parts of the pages: a list beside its open item, search, empty states and small marks. */
import type { ComponentChildren } from 'preact';

import { cursor } from '../keys.ts';

export function SearchBox({
  value,
  onInput,
  label,
}: {
  value: string;
  onInput: (text: string) => void;
  label: string;
}) {
  return (
    <input
      data-search
      type="search"
      class="search"
      placeholder={`${label}   /`}
      aria-label={label}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

export interface RowProps {
  id: string;
  isOpen: boolean;
  onOpen: () => void;
  children: ComponentChildren;
  class?: string;
}

/** One row of a list with keyboard navigation. */
export function Row({ id, isOpen, onOpen, children, class: name = '' }: RowProps) {
  return (
    <button
      type="button"
      class={`row ${name}`}
      data-cursor={cursor.value === id ? '' : undefined}
      aria-current={isOpen ? 'true' : undefined}
      onClick={() => {
        cursor.value = id;
        onOpen();
      }}
    >
      {children}
    </button>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <p class="command">
      <code>{text}</code>
      <button type="button" class="plain" onClick={() => void navigator.clipboard.writeText(text)}>
        copy
      </button>
    </p>
  );
}

/** A sentence of a worker, its backticks as code. */
export function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece))}</>;
}

export function Badge({ kind, children }: { kind: string; children: ComponentChildren }) {
  return (
    <span class="badge" data-kind={kind}>
      {children}
    </span>
  );
}

export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
