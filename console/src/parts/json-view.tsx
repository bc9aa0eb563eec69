/** A JSON value as a folding tree. Multi-line text is shown as lines. */
import { useState } from 'preact/hooks';

/** Deeper, or with more entries than this, a value starts folded. */
const OPEN_DEPTH = 3;
const OPEN_ENTRIES = 50;
const SHOWN_AT_ONCE = 200;

export function JsonView({ value }: { value: unknown }) {
  return (
    <div class="json">
      <Value value={value} depth={0} />
    </div>
  );
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (typeof value === 'string') return <Text text={value} />;
  if (typeof value === 'object' && value !== null) return <Entries value={value} depth={depth} />;
  return <span class={`json-${value === null ? 'null' : typeof value}`}>{String(value)}</span>;
}

function Text({ text }: { text: string }) {
  if (!text.includes('\n')) return <span class="json-string">{JSON.stringify(text)}</span>;
  return <pre class="json-lines">{text}</pre>;
}

function Entries({ value, depth }: { value: object; depth: number }) {
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && entries.length <= OPEN_ENTRIES);
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  if (entries.length === 0) return <span class="quiet">{isList ? '[]' : '{}'}</span>;

  const size = `${entries.length} ${isList ? 'item' : 'field'}${entries.length === 1 ? '' : 's'}`;
  return (
    <>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isList ? '[' : '{'} <span class="quiet">{size}</span> {isOpen ? '' : isList ? ']' : '}'}
      </button>
      {isOpen && (
        <ul>
          {entries.slice(0, shown).map(([name, inner]) => (
            <li key={name}>
              <span class={isList ? 'json-index' : 'json-name'}>{name}</span> <Value value={inner} depth={depth + 1} />
            </li>
          ))}
          {entries.length > shown && (
            <li>
              <button type="button" class="plain" onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
                {entries.length - shown} more
              </button>
            </li>
          )}
        </ul>
      )}
    </>
  );
}
