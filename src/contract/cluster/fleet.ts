/** The machines of a cluster, for a worker that chooses one of them for its work. */
import { z } from 'zod';

/** Report of a machine about its sandboxes. */
export const SandboxReportSchema = z.object({
  /** How many more sandboxes it takes. */
  places: z.int().min(0),
  starting: z.int().min(0),
  living: z.int().min(0),
  max: z.int().min(0),
  /** Memory that new sandboxes may take. */
  memory_free_mb: z.int().min(0),
  /** Absent until its first sandbox, since finding out takes a while. */
  isolation: z.string().max(64).optional(),
  backend: z.string().max(64).optional(),
  /** Marks of the images that it has. */
  images: z.array(z.string().regex(/^[0-9a-f]{12}$/)).max(32),
});
export type SandboxReport = z.output<typeof SandboxReportSchema>;

export interface FleetHost {
  readonly name: string;
  readonly id: string;
  readonly isDraining: boolean;
  /** The sandboxes of its last report. */
  readonly sandboxes: SandboxReport;
  /** When that report arrived, by `performance.now()`. */
  readonly reportedAtMs: number;
}

/** A node by its id. `gone`: disconnected; `over`: it will not come back, and its sandboxes have ended. */
export interface FleetNode {
  readonly name: string;
  readonly gone?: { readonly isOver: boolean; readonly how: 'left' | 'restarted' | 'was lost' };
}

export interface Fleet {
  /** This node. Its id is the tag of its sandboxes. */
  readonly self: { readonly name: string; readonly id: string };
  /** Whether it accepts no new sandboxes. */
  readonly isDraining: boolean;
  /** Most sandboxes of all machines together; undefined: only the limit of each machine applies. */
  readonly maxSandboxes?: number | undefined;
  /** Machines with sandboxes, this one included. Changes with their next reports: read it at once, or copy it. */
  hosts(): readonly FleetHost[];
  /** Undefined for an id that no node was known by. */
  nodeOf(id: string): FleetNode | undefined;
  /** Registers how to read the own report; call the returned function to end that. */
  offer(report: () => SandboxReport): () => void;
}
