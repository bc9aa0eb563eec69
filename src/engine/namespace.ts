/** The default namespace of functions. */
export const DEFAULT_NAMESPACE = 'default';

/** A namespace by the name of a node: `build-7` is the default namespace there, `build-7/inner` another one. */
export function splitNamespace(namespace: string): { node: string; inner: string } {
  const at = namespace.indexOf('/');
  return at < 0
    ? { node: namespace, inner: DEFAULT_NAMESPACE }
    : { node: namespace.slice(0, at), inner: namespace.slice(at + 1) };
}
