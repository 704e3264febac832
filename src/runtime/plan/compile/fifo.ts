/** exec.fifo, by which `start` lets an init go on that `create` has made. */
import { O } from "../../../shared/linux/index.ts";
import { SLOT, START_FIFO } from "../../../shared/protocol/index.ts";
import type { Scope } from "./scope.ts";

/** The mode of exec.fifo: root writes, everybody may open it for writing only (runc uses the same). */
const FIFO_MODE = 0o622;

/** What comes through it becomes the program of a template. */
const TEMPLATE_MODE = 0o600;

/** The process is given at start, through the fifo (process.claim). */
export function isTemplate({ config, invocation }: Pick<Scope, "config" | "invocation">): boolean {
  return invocation.mode === "create" && config.template !== undefined;
}

export function makeFifo(scope: Scope): void {
  const { builder, host, invocation } = scope;
  if (invocation.mode !== "create") return;
  const mode = isTemplate(scope) ? TEMPLATE_MODE : FIFO_MODE;
  builder.add("runtime", "host", "fifo.create", { path: fifoPath(host.stateDirectory), mode, uid: 0, gid: 0 });
}

/** Before the pivot hides it. */
export function openFifo({ builder, host, invocation }: Scope): void {
  if (invocation.mode !== "create") return;
  builder.add("intermediate", "namespaces", "file.open", { path: fifoPath(host.stateDirectory), flags: O.RDWR, slot: SLOT.FIFO });
}

export function fifoPath(stateDirectory: string): string {
  return `${stateDirectory}/${START_FIFO}`;
}
