/** What the containers of a pool are made of. Pure. */
import { type PoolTemplate, sandbox } from "../../../executor/index.ts";
import { imageProcess } from "../../plan/index.ts";
import type { ImageConfig, PoolSpec } from "../../spec/index.ts";

const MS = 1000;

/** @param firstId id of the host that is id 0 in the containers. @throws ExecutorError invalid-argument */
export function templateOf(spec: PoolSpec, rootfs: string, firstId: number, image: ImageConfig | undefined): PoolTemplate {
  const { command, args, env, cwd } = spec;
  const own = command === undefined ? undefined : { cmd: command, args, env, cwd };
  const process = image === undefined ? own : imageProcess({ command, args, env, cwd, user: undefined }, image);
  const directory = cwd ?? image?.cwd ?? undefined;
  const template = sandbox({
    rootfs,
    ...(process === undefined ? {} : { command: [process.cmd, ...process.args] }),
    env: process?.env ?? env,
    ...(directory === undefined ? {} : { cwd: directory }),
    ...{ network: spec.network, memory: spec.memory, cpus: spec.cpus, pids: spec.pids, disk: spec.disk },
    ...{ seconds: Math.max(1, Math.ceil(spec.deadline / MS)), outputBytes: spec.outputSize, firstId },
  });
  return { ...template, deadlineMs: spec.deadline };
}
