/** A reference page as plain blocks, printed as Markdown for the repository and as HTML for the server. */

export type Block =
  | { kind: 'heading'; level: 1 | 2 | 3; text: string; anchor?: string }
  | { kind: 'text'; text: string }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'table'; head: string[]; rows: string[][] };

export interface Page {
  /** Last segment of its URL, without extension. */
  slug: string;
  title: string;
  blocks: Block[];
}

/** Marks text as code, whatever it contains. */
export function code(text: string): string {
  return `\`${text.replaceAll('`', "'").replaceAll(/\s+/g, ' ')}\``;
}

export function toMarkdown(page: Page): string {
  return `${page.blocks.map(markdownBlock).join('\n\n')}\n`;
}

/** Text between backticks is code in both forms; nothing else is markup. */
export function toHtml(page: Page, links: { href: string; text: string }[]): string {
  const nav = links.map(({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`).join(' ');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(page.title)} · Workcell</title>
<style>${STYLE}</style></head><body><nav>${nav}</nav><main>${page.blocks.map(htmlBlock).join('\n')}</main></body></html>
`;
}

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
nav a{margin-right:1rem}table{border-collapse:collapse;display:block;overflow-x:auto}th,td{border:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}
pre{border:1px solid #8886;padding:.6rem;overflow-x:auto}code{font:.9em ui-monospace,monospace}`;

function markdownBlock(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `${block.anchor ? `<a id="${escapeHtml(block.anchor)}"></a>\n\n` : ''}${'#'.repeat(block.level)} ${markdown(block.text)}`;
    case 'text':
      return markdown(block.text).replace(/^(\d*)([-+.)>=~#|])/, '$1\\$2');
    case 'code':
      return `\`\`\`${block.language}\n${block.text}\n\`\`\``;
    case 'table':
      return [block.head, block.head.map(() => '---'), ...block.rows].map(markdownRow).join('\n');
  }
}

function markdownRow(cells: string[]): string {
  return `| ${cells.map((cell) => markdown(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Escapes emphasis, tags, entities and links; other punctuation stays, which is easier to read. */
const MARKDOWN = /[\\`*]|\b_|_\b|~(?=~)|<(?=[A-Za-z/!?])|&(?=[#\w])|\](?=[([:])/g;

/** One paragraph in which only code is markup. */
function markdown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line
    .split(/(`[^`]+`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(MARKDOWN, '\\$&')))
    .join('');
}

function htmlBlock(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}${block.anchor ? ` id="${escapeHtml(block.anchor)}"` : ''}>${inline(block.text)}</h${block.level}>`;
    case 'text':
      return `<p>${inline(block.text)}</p>`;
    case 'code':
      return `<pre><code>${escapeHtml(block.text)}</code></pre>`;
    case 'table':
      return `<table><thead>${htmlRow('th', block.head)}</thead><tbody>${block.rows.map((row) => htmlRow('td', row)).join('')}</tbody></table>`;
  }
}

function htmlRow(tag: 'th' | 'td', cells: string[]): string {
  return `<tr>${cells.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`;
}

function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
