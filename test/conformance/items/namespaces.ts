import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import * as assert from "../assert.ts";
import { waitFor } from "../container.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { namespaceOf } from "../observe.ts";

/** linux.namespaces.type -> file name below /proc/PID/ns, and the flag of unshare(1). */
const FILES = {
  pid: ["pid", "--pid"],
  network: ["net", "--net"],
  mount: ["mnt", "--mount"],
  ipc: ["ipc", "--ipc"],
  uts: ["uts", "--uts"],
  user: ["user", "--user"],
  cgroup: ["cgroup", "--cgroup"],
  time: ["time", "--time"],
} as const;
type Type = keyof typeof FILES;
const TYPES = Object.keys(FILES) as Type[];

const IDS = { uidMappings: [{ containerID: 0, hostID: 0, size: 65536 }], gidMappings: [{ containerID: 0, hostID: 0, size: 65536 }] };

/** A process of the host in namespaces of its own of these types; its pid. Ended with the test. */
async function stranger(c: Context, types: readonly Type[]): Promise<number> {
  const flags = types.map((type) => FILES[type][1]);
  const child = spawn("unshare", [...flags, "--fork", ...(types.includes("user") ? ["--map-root-user"] : []), "sleep", "60"], {
    stdio: "ignore",
  });
  c.cleanup(
    () =>
      void execFileSync("/bin/sh", ["-c", `kill -9 $(cat /proc/${child.pid}/task/${child.pid}/children) ${child.pid} 2>/dev/null || true`]),
  );
  let inner = 0;
  await waitFor(() => {
    inner = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim());
    return inner > 0 && readFileSync(`/proc/${inner}/comm`, "utf8").trim() === "sleep";
  }, "the process in namespaces");
  return inner;
}

export const namespaces = group("NSP", "linux.namespaces", ({ must, should }) => {
  should(1, "all eight types are known", async (c) => {
    for (const type of TYPES) {
      const container = await c.create((config) => {
        if (!config.linux.namespaces.some((one) => one.type === type)) config.linux.namespaces.push({ type });
        if (type === "user") Object.assign(config.linux, IDS);
      });
      assert.notEqual(await container.namespace(FILES[type][0]), namespaceOf("self", FILES[type][0]), type);
      await container.delete("--force");
    }
  });
  must(2, "a type without a path is a new namespace", async (c) => {
    const [one, two] = [await c.create(), await c.create()];
    for (const type of ["pid", "network", "mount", "ipc", "uts", "cgroup"] as const) {
      const seen = [await one.namespace(FILES[type][0]), await two.namespace(FILES[type][0]), namespaceOf("self", FILES[type][0])];
      assert.equal(new Set(seen).size, 3, type);
    }
  });
  must(3, "a type with a path is that namespace", async (c) => {
    for (const type of ["pid", "network", "ipc", "uts", "cgroup", "time"] as const) {
      const other = await stranger(c, [type]);
      const path = `/proc/${other}/ns/${FILES[type][0]}`;
      const container = await c.create((config) => {
        config.linux.namespaces = [...config.linux.namespaces.filter((one) => one.type !== type), { type, path }];
        if (type === "uts") delete config.hostname;
      });
      assert.equal(await container.namespace(FILES[type][0]), namespaceOf(other, FILES[type][0]), type);
      await container.delete("--force");
    }
  });
  must(4, "a path is absolute", async (c) => {
    await c.refused((config) => {
      config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => type !== "ipc"), { type: "ipc", path: "proc/1/ns/ipc" }];
    }, /^\/linux\/namespaces\/5/);
  });
  must(5, "a path to a namespace of another type is refused", async (c) => {
    for (const [type, file] of [
      ["ipc", "cgroup"],
      ["network", "ipc"],
      ["uts", "mnt"],
    ] as const) {
      await c.refused((config) => {
        config.linux.namespaces = [...config.linux.namespaces.filter((one) => one.type !== type), { type, path: `/proc/self/ns/${file}` }];
      }, /^\/linux\/namespaces\/5/);
    }
  });
  must(6, "a type that is not listed stays the caller's namespace", async (c) => {
    for (const type of ["network", "ipc", "cgroup", "user", "time"] as const) {
      const container = await c.create((config) => {
        config.linux.namespaces = config.linux.namespaces.filter((one) => one.type !== type);
        if (type === "network") config.mounts = config.mounts.filter(({ destination }) => destination !== "/sys");
        if (type === "ipc") config.mounts = config.mounts.filter(({ destination }) => destination !== "/dev/mqueue");
      });
      assert.equal(await container.namespace(FILES[type][0]), namespaceOf("self", FILES[type][0]), type);
      await container.delete("--force");
    }
  });
  must(7, "a type given twice is refused", async (c) => {
    await c.refused((config) => config.linux.namespaces.push({ type: "pid" }), /^\/linux\/namespaces\/6/);
  });
  must(8, "an unknown type is refused", async (c) => {
    await c.refused((config) => config.linux.namespaces.push({ type: "foo" }), /^\/linux\/namespaces\/6/);
  });
  should(9, "the loopback device of a new network namespace is up", async (c) => {
    const output = await c.output("cat /sys/class/net/lo/flags; cat /sys/class/net/lo/operstate");
    const IFF_UP = 1;
    assert.equal(Number(output.split("\n")[0]) & IFF_UP, IFF_UP);
    // One that is owned by a new user namespace is made late. Its address is routed while the device is up.
    const routes = await c.output("cat /proc/net/fib_trie", (config) => {
      const map = [{ containerID: 0, hostID: 10_000, size: 1000 }];
      config.linux.namespaces.push({ type: "user" });
      Object.assign(config.linux, { uidMappings: map, gidMappings: map });
      // Nor may it mount a sysfs where the host hides a part of its own.
      config.mounts = config.mounts.filter(({ destination }) => !destination.startsWith("/sys"));
    });
    assert.match(routes, /127\.0\.0\.1/);
  });
  should(10, "a configuration without linux is valid", async (c) => {
    const container = await c.create((config) => {
      Object.assign(config, { linux: undefined, hostname: undefined });
      config.mounts = [];
      config.root.readonly = false;
      config.root.path = c.rootfs();
    });
    assert.equal(await container.namespace("net"), namespaceOf("self", "net"));
    assert.ok(existsSync(await container.path("/probe")), "the root is another one");
    await container.start();
    assert.equal(await container.exec("ls /probe"), "/probe\n");
  });
  should(11, "a joined user namespace comes first: it owns the others that are joined with it", async (c) => {
    const other = await stranger(c, ["user", "network", "uts", "ipc"]);
    const container = await c.create((config) => {
      delete config.hostname;
      const joined = (["user", "network", "uts", "ipc"] as const).map((type) => ({ type, path: `/proc/${other}/ns/${FILES[type][0]}` }));
      // Its one group is 0.
      for (const mount of config.mounts) mount.options = (mount.options ?? []).filter((word) => !word.startsWith("gid="));
      config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => !joined.some((one) => one.type === type)), ...joined];
    });
    for (const type of ["user", "network", "uts", "ipc"] as const)
      assert.equal(await container.namespace(FILES[type][0]), namespaceOf(other, FILES[type][0]), type);
    // A member of the pid namespace, not only of its future children.
    assert.match((await container.status()).get("NSpid") ?? "", /\s1$/);
  });
  must(12, "proc, sysfs and mqueue show the new namespaces, and not those of the host", async (c) => {
    const output = await c.output("echo $$ /proc/[0-9]* /sys/class/net/* /dev/mqueue/*");
    assert.equal(output, "1 /proc/1 /sys/class/net/lo /dev/mqueue/*\n");
  });
});
