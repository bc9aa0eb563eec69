/** A form for the request of a function: one control for each field, nested where the schema nests. */
import { useState } from 'preact/hooks';

import { Prose } from '../parts/layout.tsx';
import { emptyDraft, type Draft } from './draft.ts';
import { choiceText, type Field, type Member } from './fields.ts';

interface ControlProps {
  field: Field;
  draft: Draft;
  onChange: (draft: Draft) => void;
  name: string;
  isRequired: boolean;
  fallback?: string;
}

/** More optional fields than this start folded away. */
const MAX_OPTIONAL_SHOWN = 3;

type Only<T, Kind> = Extract<T, { kind: Kind }>;

export function Control(props: ControlProps) {
  const { field, draft } = props;
  if (field.kind === 'object' && draft.kind === 'object') return <Members {...props} field={field} draft={draft} />;
  if (field.kind === 'list' && draft.kind === 'list') return <List {...props} field={field} draft={draft} />;
  if (field.kind === 'variant' && draft.kind === 'variant') return <Variant {...props} field={field} draft={draft} />;
  return draft.kind === 'leaf' ? <Leaf {...props} draft={draft} /> : null;
}

function Members(props: ControlProps & { field: Only<Field, 'object'>; draft: Only<Draft, 'object'> }) {
  const { field, draft, onChange } = props;
  const [isWhole, setWhole] = useState(false);
  // A field that is being emptied must not fold while the user types.
  const [used] = useState(() => new Set<string>());
  const members = field.members
    .filter((member) => !isConstant(member))
    .map((member) => ({ member, inner: draft.members[member.name] ?? emptyDraft(member.field, member.isRequired) }));
  if (members.length === 0) return <p class="quiet">It takes no fields.</p>;

  const optional = members.filter(
    ({ member, inner }) => !member.isRequired && !used.has(member.name) && !isTouched(member, inner),
  );
  const isFolded = !isWhole && optional.length > MAX_OPTIONAL_SHOWN;
  const shown = isFolded ? members.filter((one) => !optional.includes(one)) : members;
  return (
    <div class="members">
      {shown.map(({ member, inner }) => (
        <MemberField
          key={member.name}
          member={member}
          draft={inner}
          onChange={(changed) => {
            used.add(member.name);
            onChange({ ...draft, members: { ...draft.members, [member.name]: changed } });
          }}
        />
      ))}
      {isFolded && (
        <p class="folded">
          <button type="button" class="plain" onClick={() => setWhole(true)}>
            {optional.length} optional fields
          </button>{' '}
          <span class="quiet">{optional.map(({ member }) => member.name).join(', ')}</span>
        </p>
      )}
    </div>
  );
}

/** Nothing to choose: the draft holds the only value already. */
function isConstant({ field, isRequired }: Member): boolean {
  return isRequired && field.kind === 'choice' && field.values.length === 1;
}

function isTouched({ field, isRequired }: Member, draft: Draft): boolean {
  return JSON.stringify(draft) !== JSON.stringify(emptyDraft(field, isRequired));
}

/** Fields that need the full width of the form. */
function isWide(field: Field): boolean {
  if (field.kind === 'list') return ['object', 'variant', 'list'].includes(field.item.kind);
  return field.kind === 'object' || field.kind === 'variant';
}

function MemberField({ member, draft, onChange }: { member: Member; draft: Draft; onChange: (draft: Draft) => void }) {
  const { name, field, isRequired, description, fallback } = member;
  return (
    <div class="member" data-wide={isWide(field) ? '' : undefined}>
      <div class="member-name">
        <span class="mono">{name}</span>
        {isRequired && (
          <span class="required" title="Must be given">
            *
          </span>
        )}
        {description && (
          <span class="member-help">
            <Prose text={description} />
          </span>
        )}
      </div>
      <Control
        field={field}
        draft={draft}
        onChange={onChange}
        name={name}
        isRequired={isRequired}
        fallback={fallback}
      />
    </div>
  );
}

function List({
  field,
  draft,
  onChange,
  name,
}: ControlProps & { field: Only<Field, 'list'>; draft: Only<Draft, 'list'> }) {
  const { items } = draft;
  return (
    <div class="list">
      {items.map((item, at) => (
        <div class="list-item" key={at}>
          <Control
            field={field.item}
            draft={item}
            name={`${name} ${at + 1}`}
            isRequired
            onChange={(inner) => onChange({ ...draft, items: items.with(at, inner) })}
          />
          <button
            type="button"
            class="plain"
            aria-label={`Remove ${name} ${at + 1}`}
            onClick={() => onChange({ ...draft, items: items.toSpliced(at, 1) })}
          >
            ×
          </button>
        </div>
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => onChange({ ...draft, items: [...items, emptyDraft(field.item, true)] })}
      >
        + {name}
      </button>
    </div>
  );
}

function Variant(props: ControlProps & { field: Only<Field, 'variant'>; draft: Only<Draft, 'variant'> }) {
  const { field, draft, onChange, name, isRequired, fallback } = props;
  const choose = (option: number) => {
    const chosen = field.options[option];
    onChange({ kind: 'variant', option, inner: chosen ? emptyDraft(chosen.field, true) : { kind: 'leaf', text: '' } });
  };
  const chosen = field.options[draft.option];
  return (
    <div class="variant">
      <select aria-label={name} value={draft.option} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {!isRequired && <option value={-1}>{leftOut(fallback)}</option>}
        {field.options.map(({ label }, at) => (
          <option key={label} value={at}>
            {label}
          </option>
        ))}
      </select>
      {chosen && (
        <Control
          field={chosen.field}
          draft={draft.inner}
          name={name}
          isRequired
          onChange={(inner) => onChange({ ...draft, inner })}
        />
      )}
    </div>
  );
}

function Leaf({ field, draft, onChange, name, isRequired, fallback }: ControlProps & { draft: Only<Draft, 'leaf'> }) {
  const set = (text: string) => onChange({ kind: 'leaf', text });
  const common = { 'aria-label': name, value: draft.text, placeholder: isRequired ? '' : leftOut(fallback) };
  if (field.kind === 'boolean' || field.kind === 'choice') {
    const options = field.kind === 'boolean' ? ['true', 'false'] : field.values.map((_, at) => String(at));
    return (
      <select aria-label={name} value={draft.text} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">{isRequired ? 'choose' : leftOut(fallback)}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {field.kind === 'choice' ? choiceText(field.values[Number(option)]) : option}
          </option>
        ))}
      </select>
    );
  }
  const isLong = field.kind === 'json' || (field.kind === 'text' && field.isLong);
  if (isLong) {
    return <textarea rows={2} spellcheck={false} {...common} onInput={(event) => set(event.currentTarget.value)} />;
  }
  return (
    <input
      type="text"
      inputMode={field.kind === 'number' ? 'decimal' : undefined}
      autocomplete="off"
      spellcheck={false}
      {...common}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
}

function leftOut(fallback: string | undefined): string {
  return fallback === undefined ? 'left out' : `left out: ${fallback}`;
}
