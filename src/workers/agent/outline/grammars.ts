/** Selects the grammar of a file by the ending of its name. */
const ENDINGS: Record<string, readonly string[]> = {
  typescript: ['ts', 'mts', 'cts'],
  tsx: ['tsx'],
  javascript: ['js', 'mjs', 'cjs', 'jsx'],
  python: ['py', 'pyi'],
  go: ['go'],
  rust: ['rs'],
  java: ['java'],
  cpp: ['c', 'h', 'cc', 'cpp', 'cxx', 'hpp', 'hh', 'hxx'],
  'c-sharp': ['cs'],
  ruby: ['rb'],
  php: ['php'],
  bash: ['sh', 'bash'],
};

const BY_ENDING = new Map(Object.entries(ENDINGS).flatMap(([grammar, list]) => list.map((one) => [one, grammar])));

/** Undefined for a file without a grammar. */
export function grammarOf(path: string): string | undefined {
  return BY_ENDING.get(/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '');
}

/** Node types of definitions, of all grammars: no type is ambiguous between them. */
export const DEFINITIONS = new Set([
  ...['class_declaration', 'abstract_class_declaration', 'class_definition', 'class_specifier', 'class', 'module'],
  ...['struct_specifier', 'union_specifier', 'enum_specifier', 'struct_item', 'enum_item', 'union_item', 'impl_item'],
  ...['trait_item', 'mod_item', 'macro_definition', 'type_item', 'type_spec', 'type_alias_declaration'],
  ...['interface_declaration', 'trait_declaration', 'enum_declaration', 'record_declaration', 'struct_declaration'],
  ...['annotation_type_declaration', 'namespace_definition', 'namespace_declaration', 'internal_module'],
  ...['function_declaration', 'generator_function_declaration', 'function_definition', 'function_item'],
  ...['function_signature_item', 'method_definition', 'method_declaration', 'constructor_declaration'],
  ...['method', 'singleton_method', 'abstract_method_signature', 'delegate_declaration'],
]);

/** In C these also occur where a type is used; only with a body are they definitions. */
export const NEEDS_BODY = new Set(['class_specifier', 'struct_specifier', 'union_specifier', 'enum_specifier']);

/** Not searched for inner definitions: a reader reads those with the function. */
export const FUNCTIONS = new Set([
  ...['function_declaration', 'generator_function_declaration', 'function_definition', 'function_item'],
  ...['method_definition', 'method_declaration', 'constructor_declaration', 'method', 'singleton_method'],
  ...['arrow_function', 'function_expression', 'lambda', 'lambda_expression', 'closure_expression', 'func_literal'],
]);

/** A variable with one of these values counts as a function or a class. */
export const FUNCTION_VALUES = new Set(['arrow_function', 'function_expression', 'class', 'generator_function']);

/** Calls that group and name tests. */
export const TEST_CALL = /^(?:describe|suite|context|it|test)(?:\.\w+)*$/;
