import { expect, test } from 'vitest';

import { code, toHtml, toMarkdown, type Block } from './blocks.ts';

const markdown = (...blocks: Block[]) => toMarkdown({ slug: 's', title: 't', blocks });
const html = (...blocks: Block[]) => /<main>([\s\S]*)<\/main>/.exec(toHtml({ slug: 's', title: 't', blocks }, []))?.[1];
const text = (words: string): Block => ({ kind: 'text', text: words });

const all: Block[] = [
  { kind: 'heading', level: 2, text: '`a::b`', anchor: 'a::b' },
  text('Words with `code` in them.'),
  {
    kind: 'table',
    head: ['A', 'B'],
    rows: [
      ['`x`', '1'],
      ['y', '2'],
    ],
  },
  { kind: 'code', language: 'json', text: '{\n  "a": "<b>"\n}' },
];

test('blocks as Markdown', () => {
  expect(markdown(...all)).toBe(`<a id="a::b"></a>

## \`a::b\`

Words with \`code\` in them.

| A | B |
| --- | --- |
| \`x\` | 1 |
| y | 2 |

\`\`\`json
{
  "a": "<b>"
}
\`\`\`
`);
});

test('blocks as HTML', () => {
  expect(html(...all)).toBe(
    [
      '<h2 id="a::b"><code>a::b</code></h2>',
      '<p>Words with <code>code</code> in them.</p>',
      '<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td><code>x</code></td><td>1</td></tr><tr><td>y</td><td>2</td></tr></tbody></table>',
      '<pre><code>{\n  &quot;a&quot;: &quot;&lt;b&gt;&quot;\n}</code></pre>',
    ].join('\n'),
  );
});

test('a page has a title and links', () => {
  const page = toHtml({ slug: 's', title: '<T>', blocks: [] }, [{ href: '/a?b="c"', text: 'A & B' }]);
  expect(page).toContain('<title>&lt;T&gt; · Workcell</title>');
  expect(page).toContain('<nav><a href="/a?b=&quot;c&quot;">A &amp; B</a></nav>');
});

test.each([
  ['a tag', '<script>alert(1)</script>', '\\<script>alert(1)\\</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['a tag between backticks', '`<b>`', '`<b>`', '<code>&lt;b&gt;</code>'],
  ['a backtick alone', 'a ` b', 'a \\` b', 'a ` b'],
  ['a backtick that would open code', '` `<b>` `', '` `\\<b>` `', '<code> </code>&lt;b&gt;<code> </code>'],
  ['an entity', '&lt;b> &#60; A & B', '\\&lt;b> \\&#60; A & B', '&amp;lt;b&gt; &amp;#60; A &amp; B'],
  ['a link', '[x](javascript:y) ![x][y]', '[x\\](javascript:y) ![x\\][y]', '[x](javascript:y) ![x][y]'],
  ['a link definition', '[x]: http://y', '[x\\]: http://y', '[x]: http://y'],
  [
    'emphasis',
    '**/*.key _a_ snake_case ~~b~~ ~/c',
    '\\*\\*/\\*.key \\_a\\_ snake_case \\~~b\\~~ ~/c',
    '**/*.key _a_ snake_case ~~b~~ ~/c',
  ],
  ['a backslash', 'a\\<b', 'a\\\\\\<b', 'a\\&lt;b'],
  ['several lines', 'a\n\n# b\r\n- c', 'a # b - c', 'a\n\n# b\r\n- c'],
  ['a heading', '# a', '\\# a', '# a'],
  ['a list', '- a', '\\- a', '- a'],
  ['a numbered list', '1. a', '1\\. a', '1. a'],
  ['a quotation', '> a', '\\> a', '&gt; a'],
  ['a comparison', '1 < 2 > 0', '1 < 2 > 0', '1 &lt; 2 &gt; 0'],
])('%s is only text', (_, words, asMarkdown, asHtml) => {
  expect(markdown(text(words))).toBe(`${asMarkdown}\n`);
  expect(html(text(words))).toBe(`<p>${asHtml}</p>`);
});

test('text cannot break out of its cell', () => {
  const table: Block = { kind: 'table', head: ['A'], rows: [['a|b\n| c\\|d `e|f`']] };
  expect(markdown(table)).toBe('| A |\n| --- |\n| a\\|b \\| c\\\\\\|d `e\\|f` |\n');
});

test('an anchor cannot leave its attribute', () => {
  const heading: Block = { kind: 'heading', level: 2, text: 'x', anchor: '"><script>' };
  expect(markdown(heading)).toBe('<a id="&quot;&gt;&lt;script&gt;"></a>\n\n## x\n');
  expect(html(heading)).toBe('<h2 id="&quot;&gt;&lt;script&gt;">x</h2>');
});

test('code stays one piece of code, whatever it holds', () => {
  expect(code('a`<b>`\n c')).toBe("`a'<b>' c`");
});
