/** Processes that execs of a program that has died left in a container. No program waits for them or bounds their time any more. */

import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { untilAnswered } from "../../node/index.ts";
import type { Directory } from "../directory.ts";
import { ExecutorError } from "../errors.ts";
import { findUser } from "../launch/user.ts";
import { processesIn, removeSubCgroup, type SubCgroup, subCgroupsOf } from "../process/cgroups.ts";
import type { Runtime } from "../runtime/client.ts";
import type { Statistics } from "../stats/statistics.ts";
import type { ExecTarget } from "./handle.ts";
import { signalCgroup } from "./kill.ts";

export interface LeftIn {
  readonly runtime: Runtime;
  readonly id: string;
  /** Of the container's first process. */
  readonly pid: number;
  /** Of the executor, on disk. */
  readonly directory: string;
}

/** As targetIn names them. */
const NAME = /^exec-[0-9a-f-]{36}/;
const KILL_MS = 10_000;
const LOOK_MS = 10;

/** SIGKILL for all of it; returns how many execs had left something. @throws ExecutorError stuck; RuntimeError */
export async function endLeftovers({ runtime, id, pid, directory }: LeftIn): Promise<number> {
  const subs = subCgroupsOf(pid).filter(({ name }) => NAME.test(name));
  for (const { sub } of subs) await end({ runtime, id, sub });
  for (const file of await readdir(directory)) if (NAME.test(file)) rmSync(join(directory, file), { force: true });
  return subs.length;
}

async function end({ runtime, id, sub }: Pick<LeftIn, "runtime" | "id"> & { readonly sub: SubCgroup }): Promise<void> {
  const deadline = performance.now() + KILL_MS;
  while (processesIn([sub.directory]).length > 0 && (await signalCgroup({ runtime, id, sub, pid: () => undefined }, "SIGKILL"))) {
    if (performance.now() > deadline)
      throw new ExecutorError("stuck", `${id}: processes of an earlier exec do not end`, { cgroup: sub.directory });
    await sleep(LOOK_MS);
  }
  await removeSubCgroup(sub);
}

/** Where a further process of a container runs, and as whom. */
interface TargetContainer {
  readonly runtime: Runtime;
  readonly directory: Directory;
  readonly statistics: Statistics;
  /** In which the names of users are looked up. */
  readonly rootfs: string;
}

/** @param user name or numbers; undefined: that of the container. @throws ExecutorError user-unknown; Error: the root file system does not answer */
export async function targetIn({ runtime, directory, statistics, rootfs }: TargetContainer, user: string | undefined): Promise<ExecTarget> {
  // Its passwd is read on this thread.
  if (user !== undefined) await untilAnswered([rootfs]);
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
