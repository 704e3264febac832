/** Where connections to the ports of a container begin, so that its loopback is theirs. */
import { closed, type Relay, relayIn, type StartRelay } from "../../health/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { locatePause } from "../../pause/index.ts";
import { isInMachine, RELAY_PROGRAM, type Runtimes } from "../../plan/index.ts";
import type { ContainerRuntime } from "../containers/runtime.ts";
import { type NetworkLook, networkNamespaceOf } from "./namespace.ts";

export interface RelayOptions extends NetworkLook {
  readonly runtime: Pick<ContainerRuntime, "find" | "spawn" | "binary">;
  readonly runtimes: Runtimes;
}

/** undefined: the container does not run. @throws as ContainerRuntime.find; PauseNotFoundError */
export async function relayOf(record: TaskRecord, runtimeId: string, options: RelayOptions): Promise<StartRelay | undefined> {
  const { runtime, runtimes } = options;
  if (isInMachine(record.spec, runtimes))
    return (await runtime.find(runtimeId)).state === "running" ? relayInside(runtimeId, runtime) : undefined;
  const namespace = await networkNamespaceOf(record, runtimeId, options);
  return namespace === undefined ? undefined : relayIn(namespace, locatePause(runtime.binary));
}

/** A further process of the container: the addresses of a virtual machine are in it, and its namespace on the host has others. */
function relayInside(id: string, runtime: Pick<ContainerRuntime, "spawn">): StartRelay {
  return async (verb, { address, port }, timeoutMs): Promise<Relay> => {
    const deadline = timeoutMs === undefined ? {} : { deadlineMs: timeoutMs };
    const args = [verb, "-", address, String(port)];
    const handle = await runtime.spawn(id, { cmd: RELAY_PROGRAM, args, stdio: { stdin: "pipe" }, ...deadline });
    const [input, output, errors] = [handle.stdin!, handle.stdout!, handle.stderr!];
    const ended = Promise.all([handle.wait(), closed(errors)]).then(([{ exitCode }]) => exitCode);
    const end = async () => {
      await handle.kill();
      errors.resume();
      await ended.catch(() => {});
    };
    return { input, output, errors, ended, end };
  };
}
