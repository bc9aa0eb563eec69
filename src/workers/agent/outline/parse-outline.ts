/**
 * The outline of a source file by its syntax tree.
 *
 * The parser and each grammar are WebAssembly, loaded when a file first needs them. They are optional: where they are not
 * installed, or a file takes too long, the caller falls back to indentation.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import type { Language, Node, Parser } from '@vscode/tree-sitter-wasm';

import { DEFINITIONS, FUNCTION_VALUES, FUNCTIONS, NEEDS_BODY, TEST_CALL } from './grammars.ts';

type Library = typeof import('@vscode/tree-sitter-wasm');

const PARSE_MS = 1000;
/** Levels of nodes; deeper code has no definitions that a reader looks for. */
const MAX_DEPTH = 40;

interface Grammars {
  readonly library: Library;
  readonly folder: string;
}

let opened: Promise<Grammars | undefined> | undefined;
const languages = new Map<string, Promise<Language>>();

/** Numbers of the lines where definitions begin, from 1; undefined if it cannot be parsed here. */
export async function parseOutline(text: string, grammar: string): Promise<number[] | undefined> {
  opened ??= open();
  const grammars = await opened;
  if (!grammars) return undefined;

  const { library, folder } = grammars;
  const loading = languages.get(grammar) ?? library.Language.load(join(folder, `tree-sitter-${grammar}.wasm`));
  languages.set(grammar, loading);
  const parser = new library.Parser();
  try {
    parser.setLanguage(await loading);
    const root = parse(parser, text);
    return root && linesIn(root);
  } finally {
    parser.delete();
  }
}

async function open(): Promise<Grammars | undefined> {
  const name = '@vscode/tree-sitter-wasm';
  const require = createRequire(import.meta.url);
  try {
    const folder = dirname(require.resolve(name));
    const library = require(name) as Library;
    await library.Parser.init();
    return { library, folder };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

function parse(parser: Parser, text: string): Node | undefined {
  const untilMs = performance.now() + PARSE_MS;
  const tree = parser.parse(text, undefined, { progressCallback: () => performance.now() > untilMs });
  return tree?.rootNode;
}

function linesIn(root: Node): number[] {
  const lines = new Set<number>();
  const visit = (node: Node, depth: number) => {
    for (const child of node.namedChildren) {
      if (!child) continue;
      const isShown = isDefinition(child);
      if (isShown) lines.add(nameLine(child));
      const isClosed = FUNCTIONS.has(child.type) && !isTest(child);
      if (!isClosed && depth < MAX_DEPTH) visit(child, depth + 1);
    }
  };
  visit(root, 0);
  return [...lines].sort((a, b) => a - b);
}

function isDefinition(node: Node): boolean {
  if (DEFINITIONS.has(node.type)) return !NEEDS_BODY.has(node.type) || node.childForFieldName('body') !== null;
  if (node.type === 'variable_declarator') return FUNCTION_VALUES.has(node.childForFieldName('value')?.type ?? '');
  return isTestCall(node);
}

function isTestCall(node: Node): boolean {
  return node.type === 'call_expression' && TEST_CALL.test(node.childForFieldName('function')?.text.slice(0, 40) ?? '');
}

/** Whether a node is the function of a test or of a group of tests. */
function isTest(node: Node): boolean {
  const call = node.parent?.parent;
  return call != null && isTestCall(call) && /^(?:describe|suite|context)/.test(call.text.slice(0, 10));
}

/** Decorators, comments and the result type may be on lines before the name. */
function nameLine(node: Node): number {
  const named = node.childForFieldName('name') ?? node.childForFieldName('declarator') ?? node;
  return named.startPosition.row + 1;
}
