/** Reference pages from the catalogue, as Markdown or HTML. */
export { toHtml, toMarkdown, type Block, type Page } from './blocks.ts';
export { referencePages } from './pages.ts';
export { schemaFields, type SchemaField } from './schema-fields.ts';
