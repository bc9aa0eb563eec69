/** A request on its way from a call that was made to the form where it can be made again. */
import { goTo } from './route.ts';

let handed: { functionKey: string; payload: unknown } | undefined;

export function openWith(functionKey: string, payload: unknown): void {
  handed = { functionKey, payload };
  goTo({ page: 'functions', open: functionKey });
}

/** Once: who comes back later finds the form as it usually is. */
export function takePrefill(functionKey: string): { payload: unknown } | undefined {
  const taken = handed?.functionKey === functionKey ? handed : undefined;
  handed = undefined;
  return taken;
}
