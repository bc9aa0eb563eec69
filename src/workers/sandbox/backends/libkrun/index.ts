/** Sandboxes of libkrun: virtual machines through the optional package `microsandbox`. Nothing in CI can run one. */
export { LibkrunBackend } from './libkrun-backend.ts';
