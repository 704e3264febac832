/**
 * cgroup v2 on a host that runs v1: in a private mount namespace the (bare) unified hierarchy is mounted over /sys/fs/cgroup. It has
 * no controllers, so limits are out of reach; joining, namespaces, device programs, killing and removal are not.
 */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, type Result, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

/** Where this host has the same hierarchy, as seen from outside. */
const UNIFIED = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find(
  (path) => existsSync(`${path}/cgroup.procs`) && existsSync(`${path}/cgroup.subtree_control`),
);

describe.skipIf(!isRoot || !isRunt || UNIFIED === undefined)("cgroup v2 (needs root and a cgroup2 mount)", () => {
  const { bundle, directory, id, root } = useHarness();

  /** Run shell lines that use $RUNT in the mount namespace. */
  async function unified(lines: string): Promise<Result> {
    const script = join(directory, "unified.sh");
    writeFileSync(script, `set -e\nmount -t cgroup2 none /sys/fs/cgroup\nRUNT='${RUNTIME} --root ${root}'\n${lines}\n`);
    return await call(directory, ["unshare", "-m", "sh", script]);
  }

  function left(): string[] {
    return readdirSync(UNIFIED ?? "").filter((name) => `/${name}` === CGROUP_PARENT);
  }

  test("the program runs in its cgroup, which is gone afterwards with the levels above it", async () => {
    const path = bundle((config) => {
      shell(config, "grep ^0:: /proc/self/cgroup");
      config.linux.cgroupsPath = `${CGROUP_PARENT}/a/b`;
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
    });
    expect(await unified(`$RUNT run -b ${path} ${id()}`)).toEqual({ status: 0, stdout: `0::${CGROUP_PARENT}/a/b\n`, stderr: "" });
    expect(left()).toEqual([]);
  });

  test("a new cgroup namespace has the container's cgroup as its root", async () => {
    const path = bundle((config) => {
      shell(config, "grep ^0:: /proc/self/cgroup; cat /sys/fs/cgroup/cgroup.procs | wc -l");
      config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => type !== "cgroup"), { type: "cgroup" }];
      config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev", "ro"] });
    });
    expect((await unified(`$RUNT run -b ${path} ${id()}`)).stdout).toMatch(/^0::\/\n[23]\n$/);
  });

  test("device rules hold: what is not allowed cannot be opened, the defaults can", async () => {
    const path = bundle((config) => {
      shell(config, "head -c 1 /dev/zero | wc -c; mknod /tmp/kmsg c 1 11 && head -c 1 /tmp/kmsg; echo status $?");
      config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["dev"] });
      config.linux.resources = { devices: [{ allow: false, access: "rwm" }] };
      for (const set of ["bounding", "effective", "permitted"]) config.process.capabilities[set]?.push("CAP_MKNOD");
    });
    const { stdout, stderr } = await unified(`$RUNT run -b ${path} ${id()}`);
    expect(stdout).toBe("1\nstatus 1\n");
    expect(stderr).toContain("Operation not permitted");
  });

  test("create, start, kill --all and delete leave nothing", async () => {
    const name = id();
    const path = bundle((config) => shell(config, "sleep 60 & sleep 60"));
    const result = await unified(
      `$RUNT create -b ${path} ${name} </dev/null >/dev/null 2>&1; $RUNT start ${name}; $RUNT kill --all ${name} KILL; ` +
        `for i in 1 2 3 4 5 6 7 8 9 10; do $RUNT state ${name} | grep -q stopped && break; sleep 0.05; done; $RUNT delete ${name}; $RUNT list -q`,
    );
    expect(result).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(left()).toEqual([]);
  });
});
