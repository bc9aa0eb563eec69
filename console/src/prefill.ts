/** Carries a request from a past call to the form where it can be repeated. */
import { goTo } from './route.ts';

let handed: { functionKey: string; payload: unknown } | undefined;

export function openWith(functionKey: string, payload: unknown): void {
  handed = { functionKey, payload };
  goTo({ page: 'functions', open: functionKey });
}

/** Returns the request once; later visits show the form as usual. */
export function takePrefill(functionKey: string): { payload: unknown } | undefined {
  const taken = handed?.functionKey === functionKey ? handed : undefined;
  handed = undefined;
  return taken;
}
