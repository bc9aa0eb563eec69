import { expect, test } from 'vitest';

import { agentCell } from '#testing';

const SOURCES = {
  'a.ts':
    'import x from "x";\n\n@deco()\nexport class A<T> {\n  x = 1;\n  async m(): Promise<void> {\n    function inner() {}\n  }\n}\nexport const f = (a: string) => a;\nconst plain = 1;\ninterface I {}\n',
  'a.test.js': 'describe("x", () => {\n  it("works", () => {\n    const g = () => 1;\n  });\n});\n',
  'a.py': 'X = 1\nclass A(B):\n    @property\n    def f(self):\n        pass\nasync def g(): pass\n',
  'a.go': 'package a\n\nfunc (r *R) M() error { return nil }\n\ntype T struct {\n\tA int\n}\n',
  'a.rs': 'impl A for B {\n    fn x(&self) {}\n}\npub struct S;\n',
  'a.java': 'public class A {\n  int x;\n  void m() {}\n}\n',
  'a.cpp': 'namespace n {\nclass A;\nclass B { void m() {} };\n}\nint main() { return 0; }\n',
  'a.rb': 'module M\n  class A\n    def f; end\n  end\nend\n',
  'a.md': '# One\ntext\n```\n# not\n```\n## Two\n',
  'a.yml': 'jobs:\n  build:\n    steps:\n      - x\nname: y\n',
};

test('agent.C22 definitions by syntax, headings of pages, and indentation for the rest', async () => {
  await using cell = await agentCell(SOURCES);
  expect(await cell.text('outline', { paths: Object.keys(SOURCES) })).toBe(`a.ts
4: export class A<T> {
6:   async m(): Promise<void> {
10: export const f = (a: string) => a;
12: interface I {}
a.test.js
1: describe("x", () => {
2:   it("works", () => {
a.py
2: class A(B):
4:     def f(self):
6: async def g(): pass
a.go
3: func (r *R) M() error { return nil }
5: type T struct {
a.rs
1: impl A for B {
2:     fn x(&self) {}
4: pub struct S;
a.java
1: public class A {
3:   void m() {}
a.cpp
1: namespace n {
3: class B { void m() {} };
5: int main() { return 0; }
a.rb
1: module M
2:   class A
3:     def f; end
a.md
1: # One
6: ## Two
a.yml
1: jobs:
2:   build:`);
});

test('agent.C22 broken source still has an outline, and a file that is not there does not hide the others', async () => {
  await using cell = await agentCell({ 'a.ts': 'class A { m( {\nfunction f() {}\n', 'b.ts': 'x' });
  const text = await cell.text('outline', { paths: ['a.ts', 'nope.ts', 'b.ts'] });
  expect(text).toContain('function f() {}');
  expect(text).toContain('nope.ts: A211');
  expect(text).toContain('b.ts: nothing found');
});

test('agent.C22 a file over 2 MiB is refused with the limit and the next step', async () => {
  await using cell = await agentCell({ 'a.json': ' '.repeat(2 * 2 ** 20 + 1) });
  expect(await cell.text('outline', { paths: ['a.json'] })).toBe(
    'A213: a.json is 2097153 bytes; the limit is 2097152; read a part of it',
  );
});
