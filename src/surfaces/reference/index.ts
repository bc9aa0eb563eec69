/** Reference pages from the catalogue, as Markdown or HTML. */
export { toHtml, toMarkdown, type Page } from './blocks.ts';
export { referencePages } from './pages.ts';
export { definitionsOf, schemaFields, schemaOf, type SchemaField } from './schema-fields.ts';
