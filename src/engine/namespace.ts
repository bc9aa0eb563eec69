/** The default namespace of functions. */
export const DEFAULT_NAMESPACE = 'default';
