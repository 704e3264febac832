import type { TaskRecord } from "../../model/index.ts";
import type { TaskNetworks } from "../../network/index.ts";
import { hasOwnNetwork } from "../../spec/index.ts";
import type { ContainerRuntime } from "../containers/runtime.ts";

export interface NetworkLook {
  readonly runtime: Pick<ContainerRuntime, "find">;
  readonly networks: TaskNetworks;
}

/** Path of a container's network namespace, whether it is shared, private or that of the host. undefined: the container does not run. */
export async function networkNamespaceOf(
  { id, spec }: TaskRecord,
  runtimeId: string,
  { runtime, networks }: NetworkLook,
): Promise<string | undefined> {
  if (hasOwnNetwork(spec)) return networks.placement(id).path;
  const found = await runtime.find(runtimeId);
  return found.state === "running" ? `/proc/${found.process.pid}/ns/net` : undefined;
}
