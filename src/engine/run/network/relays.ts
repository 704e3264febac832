/** Where connections to the ports of a container begin, so that its loopback is theirs. */

import type { Readable, Writable } from "node:stream";
import { closed, type Relay, type RelayTarget, relayIn, type StartRelay } from "../../health/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { lastLines, type TaskNetworks } from "../../network/index.ts";
import { locatePause } from "../../pause/index.ts";
import { isInMachine, RELAY_PROGRAM, type Runtimes } from "../../plan/index.ts";
import { hasOwnNetwork } from "../../spec/index.ts";
import type { ContainerRuntime } from "../containers/runtime.ts";

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

interface NetworkLook {
  readonly runtime: Pick<ContainerRuntime, "find">;
  readonly networks: TaskNetworks;
}

/** Path of a container's network namespace, whether it is shared, private or that of the host. undefined: the container does not run. */
async function networkNamespaceOf(
  { id, spec }: TaskRecord,
  runtimeId: string,
  { runtime, networks }: NetworkLook,
): Promise<string | undefined> {
  if (hasOwnNetwork(spec)) return networks.placement(id).path;
  const found = await runtime.find(runtimeId);
  return found.state === "running" ? `/proc/${found.process.pid}/ns/net` : undefined;
}

/** A TCP connection that begins in a task's network, so that it reaches the loopback interface of the containers in any network mode. */
export interface Forwarded {
  /** Ending this stream half-closes the connection. */
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves when the connection is over: undefined if it ended normally, or else the reason why it failed. */
  readonly ended: Promise<string | undefined>;
  /** Closes the connection at once. Data in flight is lost. */
  close(): Promise<void>;
}

/** Characters of the relay's errors to keep: its messages are short. */
const LONGEST_ERRORS = 4096;

/** @throws the errors of `start` */
export async function forwardTo(target: RelayTarget, start: StartRelay): Promise<Forwarded> {
  const relay = await start("forward", target);
  let errors = "";
  relay.errors.on("data", (chunk: Buffer) => {
    if (errors.length < LONGEST_ERRORS) errors += chunk.toString();
  });
  const ended = relay.ended.then(
    (status) => (status === 0 ? undefined : lastLines(errors) || "the connection has broken"),
    (error: Error) => error.message,
  );
  return { input: relay.input, output: relay.output, ended, close: () => relay.end() };
}
