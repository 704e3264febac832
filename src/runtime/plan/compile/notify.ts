/** Readiness (sd_notify(3)) of a container whose caller is itself a service: the container gets a socket of its own. */

import { MOUNT_ATTR } from "../../../shared/linux/index.ts";
import type { BindMount } from "../../config/index.ts";
import type { CompileInput } from "../input.ts";
import { NO_ATTRIBUTES } from "./attributes.ts";

/** In the container; where runc has it. */
const DIRECTORY = "/run/notify";

export function notifyDirectory(stateDirectory: string): string {
  return `${stateDirectory}/notify`;
}

/**
 * With the mount of the socket's directory and NOTIFY_SOCKET in the environment, as if config.json had them. The directory and not the
 * socket, which `start` may bind anew.
 */
export function withNotification(input: CompileInput): CompileInput {
  const { config, host, invocation } = input;
  const { process } = config;
  if (invocation.notifySocket === undefined || process === undefined) return input;
  const { RDONLY, NOSUID, NODEV, NOEXEC } = MOUNT_ATTR;
  const mount: BindMount = {
    ...NO_ATTRIBUTES,
    kind: "bind",
    from: "",
    source: notifyDirectory(host.stateDirectory),
    target: DIRECTORY,
    recursive: false,
    attrDrop: 0n,
    attrSet: RDONLY | NOSUID | NODEV | NOEXEC,
  };
  const env = [...process.env.filter((entry) => !entry.startsWith("NOTIFY_SOCKET=")), `NOTIFY_SOCKET=${DIRECTORY}/notify.sock`];
  return { ...input, config: { ...config, mounts: [...config.mounts, mount], process: { ...process, env } } };
}
