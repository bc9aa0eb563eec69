import { expect, test } from 'vitest';

import type { CatalogueEntry } from '#contract';
import { toHtml, toMarkdown } from './blocks.ts';
import { referencePages } from './pages.ts';

const EVIL = '<script>alert(`1`)</script> | `x` | <img src=x onerror=y> [l](javascript:z)';
const dig: CatalogueEntry = {
  id: 'digger::dig',
  namespace: 'default',
  worker: 'digger',
  summary: 'Dig a hole.',
  details: 'It stays open.',
  effect: 'write',
  request: {
    properties: { place: { type: 'string', description: 'Where.' }, depth: { type: 'integer', default: 4 } },
    required: ['place'],
    definitions: { Tool: { properties: { kind: { type: 'string', default: 'spade' } } } },
  },
  response: {
    properties: { hole: { $ref: '#/definitions/Hole' } },
    definitions: { Hole: { properties: { depth: { type: 'integer' } } }, Kind: { enum: [1] } },
  },
  errors: [
    { code: 'D1', meaning: 'It is gone.', http: 404, retryable: false },
    { code: 'D2', meaning: 'It is busy.', http: 429, retryable: true },
  ],
  examples: [{ place: 'garden' }],
};
const evil: CatalogueEntry = {
  id: `evil::${EVIL}`,
  namespace: 'default',
  worker: EVIL,
  summary: EVIL,
  details: EVIL,
  request: { properties: { [EVIL]: { type: EVIL, description: EVIL, default: EVIL } } },
  response: {
    properties: { a: { $ref: `#/definitions/${EVIL}` } },
    definitions: { [EVIL]: { properties: { [EVIL]: true } } },
  },
  errors: [{ code: EVIL, meaning: EVIL, http: 500, retryable: false }],
  examples: [{ text: EVIL, fence: '\n```\n<script>' }],
};
const known = {
  busErrors: [{ code: 'TIMEOUT', meaning: 'Too late.', http: 504, retryable: false }],
  workerErrors: [],
};

test('a worker has a page with everything about its functions', () => {
  const [page] = referencePages([dig], known);
  expect(page).toMatchObject({ slug: 'digger', title: 'digger' });
  expect(toMarkdown(page!)).toBe(`# digger

| Function | Effect | What it does |
| --- | --- | --- |
| \`digger::dig\` | write | Dig a hole. |

<a id="digger::dig"></a>

## \`digger::dig\`

Dig a hole. It stays open.

\`POST /functions/digger/dig\` · \`workcell call digger::dig\`

### Request

| Field | Type | Default | Meaning |
| --- | --- | --- | --- |
| \`place\` | string | required | Where. |
| \`depth\` | integer | \`4\` |  |

### Tool

| Field | Type | Default | Meaning |
| --- | --- | --- | --- |
| \`kind\` | string | \`"spade"\` |  |

### Response

| Field | Type | Meaning |
| --- | --- | --- |
| \`hole\` | Hole (may be absent) |  |

### Hole

| Field | Type | Meaning |
| --- | --- | --- |
| \`depth\` | integer (may be absent) |  |

### Errors

| Code | HTTP | Meaning |
| --- | --- | --- |
| \`D1\` | 404 | It is gone. |
| \`D2\` | 429 | It is busy. |

### Example request

\`\`\`json
{
  "place": "garden"
}
\`\`\`
`);
});

test('the errors have a page with an anchor for each code', () => {
  const page = referencePages([dig, { ...dig, id: 'digger::fill' }], known).at(-1)!;
  expect(toMarkdown(page)).toBe(`# Errors

Every failure carries a code. A \`fix\`, where there is one, is the next request, ready to send.

<a id="D1"></a>

## \`D1\`

It is gone. HTTP 404.

Answered by: \`digger::dig\`, \`digger::fill\`

<a id="D2"></a>

## \`D2\`

It is busy. The same request may succeed later. HTTP 429.

Answered by: \`digger::dig\`, \`digger::fill\`

<a id="TIMEOUT"></a>

## \`TIMEOUT\`

Too late. HTTP 504.

Answered by: Any call.
`);
  const anchors = [...toHtml(page, []).matchAll(/<h2 id="([^"]+)"/g)].map(([, anchor]) => anchor);
  expect(anchors).toEqual(['D1', 'D2', 'TIMEOUT']);
});

test('nothing that a foreign worker says becomes a tag', () => {
  for (const page of referencePages([evil, dig], known)) {
    const links = [{ href: `/docs/${encodeURIComponent(page.slug)}`, text: page.title }];
    expect(toHtml(page, links)).not.toMatch(/<(script|img)/i);

    const outsideCode = toMarkdown(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .replaceAll(/`[^`\n]+`/g, '')
      .replaceAll(/<a id="[^"<>]*"><\/a>/g, '');
    expect(outsideCode).not.toMatch(/(?<!\\)<(script|img)/i);
    expect(outsideCode).not.toMatch(/(?<!\\)\]\(/);
    const rows = outsideCode.split('\n').filter((line) => line.startsWith('|'));
    const columns = rows.map((row) => row.match(/(?<!\\)\|/g)?.length ?? 0);
    expect(columns.filter((count) => count < 4 || count > 5)).toEqual([]);
  }
});

test('every page has an address of its own, also for workers called errors and half a character', () => {
  const pages = referencePages([{ ...dig, worker: 'errors' }, { ...dig, worker: 'half \ud800' }, dig], known);
  expect(pages.map(({ slug, title }) => [slug, title])).toEqual([
    ['digger', 'digger'],
    ['errors-worker', 'errors'],
    ['half \u{fffd}', 'half \ud800'],
    ['errors', 'Errors'],
  ]);
});

test('what an operator decides by is on the page', () => {
  const entry: CatalogueEntry = {
    ...dig,
    permissions: ['earth.move'],
    risk: 'high',
    side_effects: ['hole'],
    constraints: [],
  };
  const [page] = referencePages([entry], known);
  expect(toMarkdown(page!)).toContain('\n\nPermissions: `earth.move`. Risk: `high`. Side effects: `hole`.\n\n');
});

test('a code has every meaning that a worker gives it, also of workers that do not run', () => {
  const filler = { code: 'D1', meaning: 'It is full.', http: 413, retryable: false };
  const asleep = { code: 'Z9', meaning: 'It sleeps.', http: 503, retryable: true };
  const workerErrors = [
    { worker: 'digger', errors: dig.errors },
    { worker: 'filler', errors: [filler, asleep] },
  ];
  const text = toMarkdown(referencePages([dig], { ...known, workerErrors }).at(-1)!);
  expect(text).toContain(
    '## `D1`\n\nIt is gone. HTTP 404.\n\nAnswered by: `digger::dig`\n\nIt is full. HTTP 413.\n\nAnswered by: the worker `filler`\n',
  );
  expect(text).toContain('## `Z9`\n\nIt sleeps. The same request may succeed later. HTTP 503.\n');
});
