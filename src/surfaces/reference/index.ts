/** Reference pages from the catalogue, as Markdown or HTML. */
export { toHtml, toMarkdown, type Page } from './blocks.ts';
export { referencePages, type WorkerErrors } from './pages.ts';
export { policyRows } from './policy-text.ts';
export { namedShapes, schemaFields, type SchemaField } from './schema-fields.ts';
