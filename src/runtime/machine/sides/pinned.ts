/**
 * Namespaces of a pod that an engine has made before its sandbox and keeps by files (CRI-O: /var/run/ipcns and the like). The monitor of the sandbox
 * joins them on the host, where nothing else is in them: by that the containers of the pod are known, which name the same files. What the pod shares is
 * in the guest.
 */
import type { Spec } from "../../spec/index.ts";
import type { SpecNamespace } from "./host.ts";
import { podPart } from "./pod.ts";

const TYPES: readonly string[] = ["ipc", "uts"];
/** Somebody is in that, whose processes would not be in the guest. */
const OF_A_PROCESS = /^\/proc\//;

export function isPinned({ annotations }: Spec, { type, path }: SpecNamespace): boolean {
  return podPart(annotations)?.isSandbox === true && TYPES.includes(type) && !OF_A_PROCESS.test(path ?? "");
}

/** Those of the monitor: a new one where none is given. */
export function monitorNamespaces(spec: Spec): SpecNamespace[] {
  const given = spec.linux?.namespaces ?? [];
  return TYPES.map((type) => given.find((each) => each.type === type && each.path && isPinned(spec, each)) ?? { type });
}
