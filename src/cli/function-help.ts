/** The text of `workcell call <function-id> --help`: the fields, the errors and an example to paste. */
import type { CatalogueEntry, JsonSchema } from '#contract';
import { namedShapes, policyRows, schemaFields, type SchemaField } from '#surfaces/reference';
import { visible } from './render.ts';

export function functionHelp(entry: CatalogueEntry): string {
  const named = namedShapes(entry.request).flatMap(({ name, shape }) =>
    section(`${visible(name)}:`, fieldLines(shape)),
  );
  const errors = entry.errors.map(({ code, meaning }) => `  ${visible(`${code}: ${meaning}`)}`);
  const examples = entry.examples.slice(0, 1).map((example) => {
    const json = JSON.stringify(example).replaceAll("'", `'\\''`);
    return `  workcell call ${visible(entry.id)} --json '${json}'`;
  });
  return [
    visible(`${entry.id}: ${entry.summary}`),
    ...section(undefined, entry.details ? [visible(entry.details)] : []),
    ...section(
      undefined,
      policyRows(entry).map(([label, values]) => visible(`${label}: ${values.join(', ')}`)),
    ),
    ...section('Fields:', fieldLines(entry.request)),
    ...named,
    ...section('Errors:', errors),
    ...section('Example:', examples),
    '',
  ].join('\n');
}

function section(title: string | undefined, lines: string[]): string[] {
  if (lines.length === 0) return [];
  return title === undefined ? ['', ...lines] : ['', title, ...lines];
}

function fieldLines(schema: JsonSchema | undefined): string[] {
  return schemaFields(schema).flatMap((field) => [
    `  ${visible(`${field.name}=<${field.type}>${remark(field)}`)}`,
    ...(field.description === '' ? [] : [`      ${visible(field.description)}`]),
  ]);
}

function remark(field: SchemaField): string {
  if (field.isRequired) return ' (required)';
  return field.default === undefined ? '' : ` (default ${field.default})`;
}
