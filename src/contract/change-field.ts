/**
 * The field `change`: the change that a call works in.
 *
 * A session can be bound to one: its calls carry the name in their metadata, and cannot name another.
 */
import { z } from 'zod';

/** Binds the calls of an HTTP request, or of an MCP session, to a change. */
export const CHANGE_HEADER = 'Workcell-Change';

const FIELD = z
  .string()
  .nullish()
  .describe('Change to work in, from change::begin: files and commands see its layer. Left out: the workspace itself.');

/** Adds the field to the request of a function. */
export function withChangeField<Request extends z.ZodType>(request: Request): Request {
  const { title } = request.meta() ?? {};
  const added = request instanceof z.ZodPipe ? z.pipe(request.def.in, extended(request.def.out)) : extended(request);
  return (title === undefined ? added : added.meta({ title })) as unknown as Request;
}

function extended(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodObject) return schema.extend({ change: FIELD });
  throw new Error('only the request of a function that is an object can take a change');
}

const taking = new WeakMap<z.ZodType, boolean>();

/** Whether requests have the field. */
export function takesChange(request: z.ZodType): boolean {
  let takes = taking.get(request);
  if (takes === undefined) {
    const object = request instanceof z.ZodPipe ? request.def.out : request;
    takes = object instanceof z.ZodObject && 'change' in object.shape;
    taking.set(request, takes);
  }
  return takes;
}

/** Metadata of calls in a session that is bound to a change. */
export function boundTo(change: string): { change: string } {
  return { change };
}

/** The change that the session of a call is bound to. */
export function boundChange(metadata: unknown): string | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const { change } = metadata as { change?: unknown };
  return typeof change === 'string' && change !== '' ? change : undefined;
}
