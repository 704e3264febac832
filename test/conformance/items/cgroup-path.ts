import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import * as assert from "../assert.ts";
import { cgroupsBelow, hierarchyOf, isUnified } from "../cgroups.ts";
import { waitFor } from "../container.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { startUnified } from "../unified.ts";

/** What init's cgroup is below the mount point. */
async function placeOf(c: Context, cgroupsPath: string | undefined): Promise<{ place: string; id: string }> {
  const container = await c.create((config) => Object.assign(config.linux, { cgroupsPath }));
  const place = (await container.cgroup("memory")).slice(hierarchyOf("memory")?.length ?? 0);
  await container.delete("--force");
  return { place, id: container.id };
}

function removed(directory: string): boolean {
  try {
    rmdirSync(directory);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
  return true;
}

/** A cgroup that the container's would be, made beforehand in every hierarchy of these controllers. */
function makeCgroup(c: Context, path: string, controllers: readonly string[]): string[] {
  const made = controllers.map((controller) => `${hierarchyOf(controller)}${path}`);
  // The level of the test itself goes last.
  for (const directory of [...controllers.map((controller) => `${hierarchyOf(controller)}${c.cgroup}`), ...made]) {
    if (existsSync(directory)) continue;
    mkdirSync(directory, { recursive: true });
    c.cleanup(() => waitFor(() => removed(directory), `${directory} is empty`));
  }
  return made;
}

const USER_NAMESPACE = {
  uidMappings: [{ containerID: 0, hostID: 70000, size: 1000 }],
  gidMappings: [{ containerID: 0, hostID: 70000, size: 1000 }],
};

/** Owner of the container's cgroup directory and of some of its files, for a container with these properties. */
async function owners(
  c: Context,
  { namespace = true, mount = "rw", user = true },
): Promise<{ directory: number; procs: number; limit: number }> {
  const container = await c.create((config) => {
    config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
    if (namespace) config.linux.namespaces.push({ type: "cgroup" });
    if (user) {
      config.linux.namespaces.push({ type: "user" });
      Object.assign(config.linux, USER_NAMESPACE);
    }
    // A user namespace may not mount a sysfs where the host hides a part of its own, as one test does.
    config.mounts = config.mounts.filter(({ destination }) => !destination.startsWith("/sys"));
    config.mounts.push({ destination: "/sys", type: "tmpfs", source: "tmpfs" });
    if (mount !== "") config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", mount] });
    Object.assign(config.linux.resources, { memory: { limit: 100_000_000 } });
  });
  const path = await container.cgroup("memory");
  const uid = (name: string) => statSync(`${path}${name}`).uid;
  const found = { directory: uid(""), procs: uid("/cgroup.procs"), limit: uid(isUnified() ? "/memory.max" : "/memory.limit_in_bytes") };
  await container.delete("--force");
  return found;
}

export const cgroupPath = group("CGP", "cgroupsPath and ownership", ({ must, should, may }) => {
  must(1, "an absolute path starts at the mount point of the hierarchy", async (c) => {
    assert.equal((await placeOf(c, `${c.cgroup}/given`)).place, `${c.cgroup}/given`);
    if (!isUnified()) {
      const shown = await c.output("cat /sys/fs/cgroup/memory/cgroup.procs", (config) => {
        config.linux.cgroupsPath = `${c.cgroup}/shown`;
        config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
        config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["ro"] });
      });
      // The program and init of the pid namespace are one: what is shown is its cgroup, not the host's.
      assert.match(shown, /^1\n$/);
    }
    if (!isUnified() && !c.isRunt) return;
    const container = await startUnified(c, (config) => {
      config.linux.cgroupsPath = `${c.cgroup}/unified`;
      config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["ro"] });
    });
    assert.match(await container.proc("cgroup"), new RegExp(`^0::${c.cgroup}/unified$`, "m"));
    // What the program finds mounted is this cgroup.
    assert.match(await container.exec("cat /sys/fs/cgroup/cgroup.procs"), /^1$/m);
    await container.delete("--force");
  });
  may(2, "a relative path starts at a fixed place of the runtime", async (c) => {
    const relative = `${c.cgroup.slice(1)}/relative`;
    const { place } = await placeOf(c, relative);
    assert.ok(place.endsWith(relative), place);
    assert.equal((await placeOf(c, relative)).place, place);
  });
  must(3, "the same value gives the same place each time", async (c) => {
    const first = await placeOf(c, `${c.cgroup}/same`);
    assert.deepEqual((await placeOf(c, `${c.cgroup}/same`)).place, first.place);
  });
  may(4, "without cgroupsPath the cgroup is named after the container", async (c) => {
    const { place, id } = await placeOf(c, undefined);
    assert.ok(place.includes(id), place);
  });
  must(5, "a path that leads out of the hierarchy is refused", async (c) => {
    if (!c.isRunt) return assert.ok((await placeOf(c, "../../x")).place.startsWith("/"), "outside the hierarchy");
    for (const path of ["../../x", "/a/../../b"])
      await c.refused((config) => Object.assign(config.linux, { cgroupsPath: path }), "/linux/cgroupsPath");
  });
  must(6, "missing cgroups are made, and delete removes every level that was made", async (c) => {
    const path = `${c.cgroup}/one/two`;
    const container = await c.create((config) => Object.assign(config.linux, { cgroupsPath: path }));
    assert.ok(cgroupsBelow(path).length > 0);
    await container.delete("--force");
    assert.deepEqual(cgroupsBelow(c.isRunt ? c.cgroup : path), []);
  });
  must(7, "a cgroup that existed before, and its siblings, stay", async (c) => {
    const [parent] = makeCgroup(c, `${c.cgroup}/before`, ["memory"]);
    const [sibling] = makeCgroup(c, `${c.cgroup}/before/sibling`, ["memory"]);
    const container = await c.create((config) => Object.assign(config.linux, { cgroupsPath: `${c.cgroup}/before/own` }));
    await container.delete("--force");
    assert.ok(existsSync(parent ?? "") && existsSync(sibling ?? ""));
    assert.ok(!existsSync(`${parent}/own`));
  });
  must(8, "a cgroup that is frozen or has processes is refused", async (c) => {
    const path = `${c.cgroup}/used`;
    const controllers = isUnified() ? ["memory"] : ["memory", "pids"];
    const made = makeCgroup(c, path, controllers);
    const child = execFileSync("/bin/sh", ["-c", "sleep 30 >/dev/null 2>&1 & echo $!"], { encoding: "utf8" }).trim();
    c.cleanup(() => void process.kill(Number(child), "SIGKILL"));
    for (const directory of made) writeFileSync(`${directory}/cgroup.procs`, child);
    const container = c.container(c.bundle((config) => Object.assign(config.linux, { cgroupsPath: path })));
    assert.notEqual((await c.call(["create", "--bundle", container.bundle, container.id])).status, 0, "a cgroup with a process was taken");
    const frozen = `${c.cgroup}/frozen`;
    const [directory] = makeCgroup(c, frozen, ["freezer"]);
    const [file, on, off] = isUnified() ? ["cgroup.freeze", "1", "0"] : ["freezer.state", "FROZEN", "THAWED"];
    writeFileSync(`${directory}/${file}`, on);
    c.cleanup(() => {
      if (existsSync(`${directory}/${file}`)) writeFileSync(`${directory}/${file}`, off);
    });
    const other = c.container(c.bundle((config) => Object.assign(config.linux, { cgroupsPath: frozen })));
    assert.notEqual((await c.call(["create", "--bundle", other.bundle, other.id])).status, 0, "a frozen cgroup was taken");
  });
  should(
    9,
    "on cgroup v1 nothing changes its owner",
    async (c) => {
      assert.deepEqual(await owners(c, {}), { directory: 0, procs: 0, limit: 0 });
    },
    { needs: ["cgroup1"] },
  );
  should(
    10,
    "on cgroup v2 the owner changes only with a cgroup namespace of its own and a writable mount of it",
    async (c) => {
      assert.equal((await owners(c, {})).directory, 70000);
      for (const without of [{ namespace: false }, { mount: "ro" }, { mount: "" }])
        assert.equal((await owners(c, without)).directory, 0, JSON.stringify(without));
      assert.equal((await owners(c, { user: false })).directory, 0);
    },
    { needs: ["cgroup2"] },
  );
  should(
    11,
    "only the directory and the files that the kernel lists for delegation change their owner",
    async (c) => {
      assert.deepEqual(await owners(c, {}), { directory: 70000, procs: 70000, limit: 0 });
      for (const name of readFileSync("/sys/kernel/cgroup/delegate", "utf8").split("\n")) assert.ok(!name.includes("memory.max"));
    },
    { needs: ["cgroup2"] },
  );
  must(
    12,
    "if the kernel has no such list, cgroup.procs, cgroup.subtree_control and cgroup.threads change their owner",
    async (c) => {
      execFileSync("mount", ["-t", "tmpfs", "tmpfs", "/sys/kernel/cgroup"]);
      c.cleanup(() => void execFileSync("umount", ["/sys/kernel/cgroup"]));
      const { directory, procs, limit } = await owners(c, {});
      assert.deepEqual({ directory, procs, limit }, { directory: 70000, procs: 70000, limit: 0 });
    },
    { needs: ["cgroup2"], alone: true },
  );
});
