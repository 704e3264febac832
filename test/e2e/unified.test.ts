/**
 * cgroup v2, also on a host that runs v1: there the (bare) unified hierarchy is mounted over /sys/fs/cgroup in a private mount namespace. It has
 * no controllers, so limits are out of reach; joining, namespaces, device programs, killing and removal are not.
 */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import { call, isRoot, isRunt, type Result, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { keepsAffinity } from "../support/kernel.ts";
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
    writeFileSync(
      script,
      `set -e\n${isUnified ? "" : "mount -t cgroup2 none /sys/fs/cgroup"}\nRUNT='${RUNTIME} --root ${root}'\n${lines}\n`,
    );
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

  test("in the host's cgroup namespace the host's mount is bound, and no cgroup2 mount is made, which would change its options", async () => {
    const path = bundle((config) => {
      shell(config, "grep ' /sys/fs/cgroup ' /proc/self/mountinfo");
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
      config.mounts = config.mounts.filter(({ destination }) => destination !== "/sys/fs/cgroup");
      config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "ro"] });
    });
    const { stdout } = await unified(
      `mount -t tmpfs none /sys/fs && mkdir /sys/fs/cgroup && mount -t cgroup2 the-hosts /sys/fs/cgroup\n$RUNT run -b ${path} ${id()}`,
    );
    expect(stdout).toMatch(/ \/ \/sys\/fs\/cgroup ro,nosuid,relatime - cgroup2 the-hosts rw/);
  });

  test("an option that the kernel does not know is an error of create and validate, and on v1 a warning", async () => {
    const withOption = (option: string) =>
      bundle((config) => {
        shell(config, "echo ran");
        config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["ro", option] });
      });
    for (const word of ["memory", "foo=bar", "none,name=x"]) {
      const path = withOption(word);
      const said = `cgroup v2 has no option "${word}"`;
      expect(await unified(`$RUNT run -b ${path} ${id()}`)).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining(said) });
      const { status, stdout } = await unified(`${RUNTIME} validate --host live -b ${path}`);
      expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringContaining(said) });
      if (isUnified) continue;
      expect(await call(directory, [RUNTIME, "--root", root, "run", "-b", path, id()])).toMatchObject({ status: 0, stdout: "ran\n" });
      const warned = await call(directory, [RUNTIME, "validate", "--host", "live", "-b", path]);
      expect(warned).toMatchObject({ status: 0, stdout: expect.stringContaining(`"${word}" has no effect on a cgroup mount`) });
    }
    const known = withOption("nsdelegate");
    expect(await unified(`$RUNT run -b ${known} ${id()}`)).toMatchObject({ status: 0, stdout: "ran\n" });
    expect(left()).toEqual([]);
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

  test.skipIf(!keepsAffinity)(
    "a further process with initial CPUs of its own gets them first, and is in the cgroup all the same",
    async () => {
      const name = id();
      const path = bundle((config) => {
        shell(config, "exec sleep 60");
        Object.assign(config.process, { execCPUAffinity: { initial: "0" } });
        config.linux.cgroupsPath = `${CGROUP_PARENT}/cpus`;
        config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
      });
      const result = await unified(
        `$RUNT run -d -b ${path} ${name} </dev/null >/dev/null 2>&1; $RUNT exec ${name} grep -h -e ^0:: -e Cpus_allowed_list /proc/self/cgroup /proc/self/status; ` +
          `$RUNT delete --force ${name}`,
      );
      expect(result).toEqual({ status: 0, stdout: `0::${CGROUP_PARENT}/cpus\nCpus_allowed_list:\t0\n`, stderr: "" });
      expect(left()).toEqual([]);
    },
  );

  const CGROUP_MOUNT = { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev"] };

  test.each([
    ["a new namespace and a writable mount", true, [], "1000 0"],
    ["a new namespace and a read-only mount", true, ["ro"], "0 0"],
    ["the host's namespace and a writable mount", false, [], "0 0"],
    ["the host's namespace and a read-only mount", false, ["ro"], "0 0"],
  ] as const)("%s: who owns the cgroup", async (_, isNew, options, owner) => {
    const name = id();
    let directory = "";
    const path = bundle((config) => {
      shell(config, "sleep 60");
      config.process.user = { uid: 1000, gid: 1000 };
      directory = `/sys/fs/cgroup${config.linux.cgroupsPath}`;
      const others = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
      config.linux.namespaces = isNew ? [...others, { type: "cgroup" }] : others;
      config.mounts = config.mounts.filter(({ destination }) => destination !== CGROUP_MOUNT.destination);
      config.mounts.push({ ...CGROUP_MOUNT, options: [...CGROUP_MOUNT.options, ...options] });
    });
    const result = await unified(
      `$RUNT create -b ${path} ${name} </dev/null >/dev/null 2>&1; stat -c '%u %g' ${directory} ${directory}/cgroup.procs; ` +
        `stat -c '%u %g' ${directory}/cgroup.max.depth; $RUNT delete --force ${name}`,
    );
    expect(result).toEqual({ status: 0, stdout: `${owner}\n${owner}\n0 0\n`, stderr: "" });
    expect(left()).toEqual([]);
  });

  test("with a user namespace the owner is the mapped user, who can make cgroups inside", async () => {
    const path = bundle((config) => {
      shell(config, "stat -c %u /sys/fs/cgroup; mkdir /sys/fs/cgroup/inner && echo made; rmdir /sys/fs/cgroup/inner");
      config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => type !== "cgroup"), { type: "cgroup" }, { type: "user" }];
      config.linux.uidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      config.mounts = config.mounts.filter(({ destination }) => destination !== CGROUP_MOUNT.destination);
      config.mounts.push(CGROUP_MOUNT);
    });
    expect(await unified(`$RUNT run -b ${path} ${id()}`)).toEqual({ status: 0, stdout: "0\nmade\n", stderr: "" });
  });

  test("in a cgroup that was there the device program of the last container is replaced, and the cgroup stays", async () => {
    const open = (devices: readonly object[]) =>
      bundle((config) => {
        shell(config, "mknod /tmp/kmsg c 1 11; (: </tmp/kmsg) && echo opened || echo refused");
        config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["dev"] });
        config.linux.resources = { devices: [{ allow: false, access: "rwm" }, ...devices] };
        config.linux.cgroupsPath = `${CGROUP_PARENT}/premade`;
        for (const set of ["bounding", "effective", "permitted"]) config.process.capabilities[set]?.push("CAP_MKNOD", "CAP_SYSLOG");
      });
    const allowed = open([{ allow: true, type: "c", major: 1, minor: 11, access: "rwm" }]);
    const denied = open([]);
    const place = `/sys/fs/cgroup${CGROUP_PARENT}/premade`;
    const result = await unified(
      `mkdir -p ${place}; for bundle in ${allowed} ${denied} ${allowed}; do $RUNT run -b $bundle ${id()} 2>/dev/null; done; ` +
        `rmdir ${place} ${place.slice(0, place.lastIndexOf("/"))} && echo stayed`,
    );
    expect(result.stdout).toBe("opened\nrefused\nopened\nstayed\n");
  });

  test("without the default rules only what is listed can be opened", async () => {
    const path = bundle((config) => {
      shell(config, "(: </dev/null) && echo null; (: </dev/zero) && echo zero; true");
      config["annotations"] = { "io.runt.default-device-rules": "false" };
      // mknod of the default nodes is init's, under these rules.
      config.linux.resources = {
        devices: [
          { allow: false, access: "rwm" },
          { allow: true, type: "c", access: "m" },
          { allow: true, type: "c", major: 1, minor: 3, access: "rw" },
        ],
      };
    });
    const { stdout, stderr } = await unified(`$RUNT run -b ${path} ${id()}`);
    expect(stdout).toBe("null\n");
    expect(stderr).toContain("/dev/zero");
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
