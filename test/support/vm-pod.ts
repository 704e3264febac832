/** Containers of a pod in one machine, as containerd writes their configurations. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Config } from "./config.ts";
import type { Harness } from "./harness.ts";
import { type Machine, pidOf, staying, stayingBundle, untilUp, VM, WITH_IMAGE } from "./vm.ts";

const CRI = "io.kubernetes.cri";
const SHARED_MEMORY = { destination: "/dev/shm", type: "bind", source: "/dev/shm", options: ["rbind"] };
const FILES: Readonly<Record<string, string>> = { network: "net" };

export type Change = (config: Config) => void;

const withSharedMemory = (config: Config): void => {
  config.mounts = config.mounts.map((each) => (each.destination === "/dev/shm" ? SHARED_MEMORY : each));
};

/** The sandbox of a pod, which boots the machine. */
export function sandbox(harness: Harness, change: Change = () => {}): Promise<Machine> {
  return staying(harness, (config) => {
    config.annotations = { [`${CRI}.container-type`]: "sandbox", [`${CRI}.sandbox-id`]: "pod" };
    config.hostname = "the-pod";
    withSharedMemory(config);
    change(config);
  });
}

/** A configuration of a container of its pod. */
export function memberOf({ pid }: Machine, shared: readonly string[] = ["network", "ipc", "uts"]): Change {
  return (config) => {
    config.annotations = { [`${CRI}.container-type`]: "container", [`${CRI}.sandbox-id`]: "pod" };
    const own = ["mount", "pid"].filter((type) => !shared.includes(type));
    config.linux.namespaces = [
      ...own.map((type) => ({ type })),
      ...shared.map((type) => ({ type, path: `/proc/${pid}/ns/${FILES[type] ?? type}` })),
    ];
    delete config.hostname;
    withSharedMemory(config);
  };
}

/** A container that has joined the machine, and runs. */
export async function member(harness: Harness, pod: Machine, change: Change = () => {}): Promise<Machine> {
  const { id, ok } = harness;
  const name = id();
  const { bundle, marks } = stayingBundle(harness, name, (config) => {
    memberOf(pod)(config);
    change(config);
  });
  await ok(["create", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name], WITH_IMAGE);
  const pid = pidOf(bundle);
  expect(JSON.parse(await ok(["state", name]))).toMatchObject({ status: "created", pid });
  expect(readdirSync(marks)).toEqual([]);
  await ok(["start", name]);
  await untilUp({ pid, marks });
  return { name, bundle, marks, pid };
}
