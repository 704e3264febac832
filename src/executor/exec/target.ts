/** Where a further process of a container runs, and as whom. */
import { randomUUID } from "node:crypto";
import type { Directory } from "../directory.ts";
import { findUser } from "../launch/user.ts";
import type { Runtime } from "../runtime/client.ts";
import type { Statistics } from "../stats/statistics.ts";
import type { ExecTarget } from "./handle.ts";

export interface TargetContainer {
  readonly runtime: Runtime;
  readonly directory: Directory;
  readonly statistics: Statistics;
  /** In which the names of users are looked up. */
  readonly rootfs: string;
}

/** @param user name or numbers; undefined: that of the container. @throws ExecutorError user-unknown */
export async function targetIn({ runtime, directory, statistics, rootfs }: TargetContainer, user: string | undefined): Promise<ExecTarget> {
  const found = user === undefined ? undefined : findUser(rootfs, user);
  return {
    runtime,
    id: directory.id,
    directory: directory.path,
    cgroup: await statistics.cgroup(),
    name: `exec-${randomUUID()}`,
    user: found && `${found.uid}:${found.gid}`,
  };
}
