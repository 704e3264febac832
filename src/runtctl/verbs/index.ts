/** Every verb, in the order of the help. A verb is loaded when it is needed, because loading modules takes most of the time of a short-lived client. */
import type { Verb } from "../verb.ts";

export interface VerbEntry {
  readonly name: string;
  load(): Promise<Verb>;
}

export const VERBS: readonly VerbEntry[] = [
  { name: "validate", load: async () => (await import("./validate.ts")).validate },
  { name: "plan", load: async () => (await import("./plan.ts")).plan },
  { name: "apply", load: async () => (await import("./apply.ts")).apply },
  { name: "run", load: async () => (await import("./run.ts")).run },
  { name: "get", load: async () => (await import("./get.ts")).get },
  { name: "describe", load: async () => (await import("./describe.ts")).describe },
  { name: "events", load: async () => (await import("./events.ts")).events },
  { name: "logs", load: async () => (await import("./logs.ts")).logs },
  { name: "exec", load: async () => (await import("./exec.ts")).exec },
  { name: "attach", load: async () => (await import("./attach.ts")).attach },
  { name: "port-forward", load: async () => (await import("./port-forward.ts")).portForward },
  { name: "top", load: async () => (await import("./top.ts")).top },
  { name: "node", load: async () => (await import("./node.ts")).node },
  { name: "stop", load: async () => (await import("./stop.ts")).stop },
  { name: "start", load: async () => (await import("./start.ts")).start },
  { name: "restart", load: async () => (await import("./restart.ts")).restart },
  { name: "rollback", load: async () => (await import("./rollback.ts")).rollback },
  { name: "delete", load: async () => (await import("./delete.ts")).remove },
  { name: "pull", load: async () => (await import("./pull.ts")).pull },
  { name: "images", load: async () => (await import("./images.ts")).images },
  { name: "volumes", load: async () => (await import("./volumes.ts")).volumes },
  { name: "interfaces", load: async () => (await import("./interfaces.ts")).interfaces },
  { name: "schema", load: async () => (await import("./schema.ts")).schema },
  { name: "completion", load: async () => (await import("./completion.ts")).completion },
];

export function allVerbs(): Promise<Verb[]> {
  return Promise.all(VERBS.map(({ load }) => load()));
}
