import { expect, test } from "vitest";
import { MOUNT_ATTR } from "../../../shared/linux/index.ts";
import type { CgroupMount } from "../../config/index.ts";
import { cgroupOwner } from "./cgroups.ts";
import type { Scope } from "./scope.ts";

interface Case {
  version?: 1 | 2;
  newCgroup?: boolean;
  readonly?: boolean;
  target?: string;
  uid?: number;
  mapped?: boolean;
  joined?: boolean;
  caller?: number;
}

function owner({ version = 2, newCgroup = true, readonly = false, target = "/sys/fs/cgroup", uid = 1000, mapped, joined, caller }: Case) {
  const mount: CgroupMount = {
    kind: "cgroup",
    target,
    from: "",
    attrSet: readonly ? MOUNT_ATTR.RDONLY : 0n,
    attrClear: 0n,
    recursiveSet: 0n,
    recursiveClear: 0n,
    propagation: [],
  };
  const scope = {
    config: { mounts: [mount], process: { uid }, uidMappings: mapped ? [{ containerId: 0, hostId: 100_000, size: 2000 }] : [] },
    host: { cgroupVersion: version, ...(caller === undefined ? {} : { caller: { uid: caller, gid: caller } }) },
    isNew: (type: string) => type === "cgroup" && newCgroup,
    inUserNamespace: mapped === true || joined === true,
  };
  return cgroupOwner(scope as unknown as Scope);
}

test.each<readonly [string, Case, number | undefined]>([
  ["the user of the process", {}, 1000],
  ["root has it already", { uid: 0 }, undefined],
  ["the mapped user", { mapped: true }, 101_000],
  ["mapped root", { mapped: true, uid: 0 }, 100_000],
  ["a user without mapping", { mapped: true, uid: 5000 }, undefined],
  ["a user namespace joined by path", { joined: true }, undefined],
  ["a rootless caller has it already", { mapped: true, uid: 0, caller: 100_000 }, undefined],
  ["the host's cgroup namespace", { newCgroup: false }, undefined],
  ["a read-only mount", { readonly: true }, undefined],
  ["a mount elsewhere", { target: "/cgroup" }, undefined],
  ["cgroup v1", { version: 1 }, undefined],
])("%s", (_, given, expected) => {
  expect(owner(given)).toBe(expected);
});
