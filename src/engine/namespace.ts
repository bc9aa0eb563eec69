/** Where functions are when nobody says otherwise. */
export const DEFAULT_NAMESPACE = 'default';
