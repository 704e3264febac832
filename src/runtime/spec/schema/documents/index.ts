/** The documents that runt prints and does not read, by the name that `runt schema` has for them. */
import type { z } from "zod";
import { findings } from "./findings.ts";
import { gc } from "./gc.ts";
import { inspect } from "./inspect.ts";
import { state } from "./state.ts";

export const DOCUMENTS: Readonly<Record<string, { readonly title: string; readonly schema: z.ZodType }>> = {
  findings: { title: "Findings of runt validate", schema: findings },
  gc: { title: "What runt gc has found", schema: gc },
  inspect: { title: "A container as runt inspect shows it", schema: inspect },
  state: { title: "The state of a container (OCI runtime specification) as runt state prints it", schema: state },
};
