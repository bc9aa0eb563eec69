/**
 * The text typed into a form, and the payload made from it.
 *
 * A draft keeps the text as typed, even if it is not a number yet. An empty optional field is left
 * out of the payload.
 */
import { isObject } from '../loose-json.ts';
import type { Field } from './fields.ts';

export type Draft =
  | { kind: 'leaf'; text: string }
  | { kind: 'list'; items: Draft[] }
  | { kind: 'object'; members: Record<string, Draft> }
  /** `option` is -1 while none is chosen. */
  | { kind: 'variant'; option: number; inner: Draft };

export interface Problem {
  path: string;
  text: string;
}

export function emptyDraft(field: Field, isRequired = false): Draft {
  switch (field.kind) {
    case 'list':
      return { kind: 'list', items: [] };
    case 'object':
      return {
        kind: 'object',
        members: Object.fromEntries(
          field.members.map((member) => [member.name, emptyDraft(member.field, member.isRequired)]),
        ),
      };
    case 'variant': {
      const [first] = field.options;
      if (!isRequired || !first) return { kind: 'variant', option: -1, inner: leaf('') };
      return { kind: 'variant', option: 0, inner: emptyDraft(first.field, true) };
    }
    case 'choice':
      return leaf(isRequired && field.values.length === 1 ? '0' : '');
    default:
      return leaf('');
  }
}

/** The draft for a payload, as far as the form can show it. */
export function draftOf(field: Field, value: unknown, isRequired = false): Draft {
  if (value === undefined || value === null) return emptyDraft(field, isRequired);
  switch (field.kind) {
    case 'list':
      return { kind: 'list', items: Array.isArray(value) ? value.map((item) => draftOf(field.item, item, true)) : [] };
    case 'object': {
      const given = isObject(value) ? value : {};
      const members = field.members.map((member) => [
        member.name,
        draftOf(member.field, ownValue(given, member.name), member.isRequired),
      ]);
      return { kind: 'object', members: Object.fromEntries(members) as Record<string, Draft> };
    }
    case 'variant': {
      const option = field.options.findIndex((one) => fits(one.field, value));
      const chosen = field.options[option];
      return { kind: 'variant', option, inner: chosen ? draftOf(chosen.field, value, true) : leaf('') };
    }
    case 'choice': {
      const at = field.values.findIndex((one) => JSON.stringify(one) === JSON.stringify(value));
      return leaf(at < 0 ? '' : String(at));
    }
    case 'json':
      return leaf(JSON.stringify(value, null, 2));
    default:
      return leaf(typeof value === 'string' ? value : JSON.stringify(value));
  }
}

/** The payload of a form, or why it is incomplete. */
export function payloadOf(field: Field, draft: Draft): { value: unknown; problems: Problem[] } {
  const problems: Problem[] = [];
  const value = read(field, draft, { isRequired: true, path: '', problems });
  return { value, problems };
}

interface Reading {
  isRequired: boolean;
  path: string;
  problems: Problem[];
}

function read(field: Field, draft: Draft, reading: Reading): unknown {
  if (draft.kind === 'list' && field.kind === 'list') {
    if (draft.items.length === 0 && !reading.isRequired) return undefined;
    return draft.items.map((item, at) =>
      read(field.item, item, { ...reading, isRequired: true, path: `${reading.path}[${at}]` }),
    );
  }
  if (draft.kind === 'object' && field.kind === 'object') return readObject(field, draft, reading);
  if (draft.kind === 'variant' && field.kind === 'variant') {
    const option = field.options[draft.option];
    if (option) return read(option.field, draft.inner, { ...reading, isRequired: true });
    return reading.isRequired ? missing(reading, 'choose one') : undefined;
  }
  return draft.kind === 'leaf' ? readLeaf(field, draft.text, reading) : undefined;
}

function readObject(
  field: Extract<Field, { kind: 'object' }>,
  draft: Extract<Draft, { kind: 'object' }>,
  reading: Reading,
): unknown {
  // Problems inside an object that turns out to be omitted do not count.
  const problems: Problem[] = [];
  const entries: [string, unknown][] = [];
  let isTouched = false;
  for (const { name, field: inner, isRequired } of field.members) {
    const member = draft.members[name] ?? emptyDraft(inner, isRequired);
    const path = reading.path === '' ? name : `${reading.path}.${name}`;
    const value = read(inner, member, { isRequired, path, problems });
    if (value !== undefined) entries.push([name, value]);
    isTouched ||= JSON.stringify(member) !== JSON.stringify(emptyDraft(inner, isRequired));
  }
  if (!reading.isRequired && !isTouched) return undefined;
  reading.problems.push(...problems);
  return Object.fromEntries(entries);
}

function readLeaf(field: Field, text: string, reading: Reading): unknown {
  if (field.kind === 'text') return text === '' && !reading.isRequired ? undefined : text;
  if (text.trim() === '') return reading.isRequired ? missing(reading, 'needs a value') : undefined;
  switch (field.kind) {
    case 'number': {
      const number = Number(text);
      if (Number.isNaN(number)) return missing(reading, `${text} is not a number`);
      return field.isInteger && !Number.isInteger(number) ? missing(reading, `${text} is not a whole number`) : number;
    }
    case 'boolean':
      return text === 'true';
    case 'choice':
      return field.values[Number(text)];
    default:
      return readJson(text, reading);
  }
}

function readJson(text: string, reading: Reading): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return missing(reading, `no JSON: ${(error as SyntaxError).message}`);
  }
}

function missing({ path, problems }: Reading, text: string): undefined {
  problems.push({ path, text });
}

function fits(field: Field, value: unknown): boolean {
  switch (field.kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'choice':
      return field.values.includes(value);
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isObject(value) && field.members.every((one) => isMemberThere(one, value));
    case 'variant':
      return field.options.some((option) => fits(option.field, value));
    case 'json':
      return true;
  }
}

function isMemberThere(
  { name, field, isRequired }: Extract<Field, { kind: 'object' }>['members'][number],
  value: Record<string, unknown>,
): boolean {
  const own = ownValue(value, name);
  return own === undefined ? !isRequired : fits(field, own);
}

/** A schema may have a field with the name of an inherited property, such as `constructor`. */
function ownValue(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function leaf(text: string): Draft {
  return { kind: 'leaf', text };
}
