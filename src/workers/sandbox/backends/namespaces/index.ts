/** Sandboxes of Linux namespaces: fast, without a kernel of their own. */
export { NamespacesBackend } from './namespaces-backend.ts';
