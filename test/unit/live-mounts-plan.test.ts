/** The plans of `mounts`, as text. Renew with `vitest run -u`. */
import { describe, expect, it } from "vitest";
import { deriveMount } from "../../src/runtime/config/mounts.ts";
import type { BindMount } from "../../src/runtime/config/types.ts";
import { compileMounts, type MountsInput, printPlan } from "../../src/runtime/plan/index.ts";

const IDS = { uidMappings: [], gidMappings: [], userNamespace: { type: "user", path: "/proc/4242/ns/user", from: "" } } as const;

function bind(index: number, source: string, destination: string, ...options: readonly string[]): BindMount {
  const mount = deriveMount({ source, destination, options: ["bind", ...options] }, index, { bundle: "/lists", ids: IDS }, () => {});
  return mount as BindMount;
}

const INPUT: MountsInput = {
  id: "c",
  add: [],
  remove: [],
  target: { pid: 4242, startTime: 123456n },
  hasUserNamespace: false,
  host: { stateDirectory: "/run/runt/c", rootless: false, cgroupVersion: 2 },
};

describe("mounts", () => {
  it("add takes sources with the host's view, cuts them off, and only then enters", async () => {
    const add = [bind(0, "/srv/data", "/data", "ro", "rshared"), bind(1, "link", "/link", "copy-symlink")];
    await expect(printPlan(compileMounts({ ...INPUT, add }))).toMatchFileSnapshot("../golden/mounts.add.plan");
  });

  it("add in a user namespace, with mapped ids", async () => {
    const add = [bind(0, "/srv/data", "/data", "idmap")];
    await expect(printPlan(compileMounts({ ...INPUT, hasUserNamespace: true, add }))).toMatchFileSnapshot("../golden/mounts.userns.plan");
  });

  it("remove", async () => {
    const remove = [
      { target: "/b", from: "/mounts/1" },
      { target: "/a", from: "/mounts/0" },
    ];
    await expect(printPlan(compileMounts({ ...INPUT, remove }))).toMatchFileSnapshot("../golden/mounts.remove.plan");
  });

  it("opens nothing once it is inside", () => {
    const { ops } = compileMounts({ ...INPUT, hasUserNamespace: true, add: [bind(0, "/srv", "/data", "idmap")] });
    const inside = ops.slice(ops.findIndex(({ op }) => op === "namespace.enter") + 1);
    expect(inside.filter(({ op }) => op.includes("open") || op === "mount.idmap")).toEqual([]);
  });
});
