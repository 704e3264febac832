import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import { isUnified } from "../cgroups.ts";
import type { Change, Context } from "../context.ts";
import { type Document, flagAt, type Json, namesAt, propertyNames, requireFeatures, valueAt } from "../features.ts";
import { FILES_OF_NAMESPACES, INTRODUCED, mountFor } from "../features-tables.ts";
import { group } from "../group.ts";
import { HookLog, KINDS, type Kind } from "../hook-log.ts";
import { namespaceOf } from "../observe.ts";
import { recognised, refusal, type Using, works } from "../recognised.ts";
import { checkSeccompNames } from "../seccomp-names.ts";

/** The document as told under other circumstances: the script ends with exec "$@". */
async function toldAfter(c: Context, script: string): Promise<Document> {
  const result = await c.shell(script, ["features"]);
  assert.equal(result.status, 0, `${script}: ${result.stderr}`);
  return JSON.parse(result.stdout);
}

/** In a mount namespace of its own, /sys is what this script makes of an empty one. */
const withSys = (script: string) => `exec unshare -m sh -c 'mount -t tmpfs none /sys && cd /sys && ${script} && cd / && exec "$@"' sh "$@"`;

const policy =
  (memoryPolicy: object): Change =>
  (config) =>
    Object.assign(config.linux, { memoryPolicy });

/** Numbers of versions, to compare them by. */
const parts = (version: Json | undefined) => /^(\d+)\.(\d+)\.(\d+)/.exec(String(version))?.slice(1).map(Number) ?? [];

export const featuresGroup = group("FEA", "features document", ({ must, should, may }) => {
  may(1, "features prints JSON, which does not depend on the host and the caller", async (c) => {
    const document = await requireFeatures(c);
    for (const script of ['cd / && exec env -i "$@"', 'exec unshare --user "$@"', withSys("true"), 'exec unshare -n -u -i "$@"'])
      assert.deepEqual(await toldAfter(c, script), document, script);
  });
  must(2, "features has the oldest and the newest version, in this order", async (c) => {
    const document = await requireFeatures(c);
    const [min, max] = [parts(document["ociVersionMin"]), parts(document["ociVersionMax"])];
    assert.equal(min.length, 3);
    assert.equal(max.length, 3);
    const order = min.map((part, index) => (max[index] ?? 0) - part).find((difference) => difference !== 0) ?? 0;
    assert.ok(order >= 0, `${document["ociVersionMin"]} is above ${document["ociVersionMax"]}`);
    for (const name of ["ociVersionMin", "ociVersionMax"])
      await (await c.create((config) => Object.assign(config, { ociVersion: document[name] }))).delete("--force");
  });
  must(3, "no property is newer than the newest version", async (c) => {
    const document = await requireFeatures(c);
    const [, newest = 0] = parts(document["ociVersionMax"]);
    for (const name of propertyNames(document)) {
      const since = INTRODUCED[name];
      assert.ok(since !== undefined, `${name} is no property of the specification`);
      assert.ok(since <= newest, `${name} came with version 1.${since}`);
    }
  });
  must(4, "unknown fields are left out; false and an empty list mean that a feature is not supported", async (c) => {
    const document = await requireFeatures(c);
    assert.doesNotMatch(JSON.stringify(document), /:null|\[null|,null/);
    const claims: readonly (readonly [names: string[], change: Change])[] = [
      [["linux", "mountExtensions", "idmap", "enabled"], idmapped(c)],
      [["linux", "netDevices", "enabled"], (config) => Object.assign(config.linux, { netDevices: { eth0: {} } })],
      [["linux", "intelRdt", "enabled"], (config) => Object.assign(config.linux, { intelRdt: { closID: "x" } })],
      [["linux", "memoryPolicy", "modes"], policy({ mode: "MPOL_LOCAL" })],
    ];
    for (const [names, change] of claims) {
      const value = valueAt(document, ...names);
      if (value === false || (Array.isArray(value) && value.length === 0))
        assert.ok((await refusal(c, change)) !== undefined, names.join("."));
    }
  });
  must(5, "hooks of every listed kind run", async (c) => {
    const kinds = namesAt(c, await requireFeatures(c), "hooks");
    for (const kind of kinds) assert.ok(KINDS.includes(kind as Kind), kind);
    const log = new HookLog(c);
    await log.life(Object.fromEntries(kinds.map((kind) => [kind, [log.note(kind as Kind)]])));
    assert.deepEqual(log.hookOrder().sort(), [...kinds].sort());
  });
  must(6, "every listed mount option is known", async (c) => {
    const names = namesAt(c, await requireFeatures(c), "mountOptions");
    assert.ok(names.length > 20, names.join(" "));
    const withOptions: Using = (options) => (config) => {
      config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "tmpfs" });
      for (const name of options) config.mounts.push(...mountFor(c, name));
    };
    await works(c, withOptions, names);
  });
  should(7, "mount options of single file systems are not listed", async (c) => {
    const names = namesAt(c, await requireFeatures(c), "mountOptions");
    for (const name of [
      "size",
      "mode",
      "uid",
      "gid",
      "nr_inodes",
      "newinstance",
      "ptmxmode",
      "hidepid",
      "subset",
      "context",
      "lowerdir",
      "data",
    ])
      assert.ok(!names.some((option) => option.split("=")[0] === name), name);
    assert.equal(new Set(names).size, names.length, "one is listed twice");
  });
  must(8, "every listed type of namespace works, on its own", async (c) => {
    for (const name of namesAt(c, await requireFeatures(c), "linux", "namespaces")) {
      const container = await c.create((config) => {
        config.linux.namespaces = [...new Set(["mount", name])].map((type) => ({ type }));
        // The host's: a proc file system of one's own needs a PID namespace of one's own in a user namespace.
        const proc = { destination: "/proc", type: "bind", source: "/proc", options: ["rbind"] };
        config.mounts = [proc, { destination: "/dev", type: "tmpfs", source: "tmpfs" }];
        delete config.hostname;
        const map = [{ containerID: 0, hostID: 0, size: 65_536 }];
        if (name === "user") Object.assign(config.linux, { uidMappings: map, gidMappings: map });
      });
      const pid = await container.pid();
      for (const [type, file] of Object.entries(FILES_OF_NAMESPACES)) {
        const isOwn = namespaceOf(pid, file) !== namespaceOf("self", file);
        assert.equal(isOwn, type === name || type === "mount", `${type} in a container with ${name}`);
      }
      await container.delete("--force");
    }
  });
  must(9, "every listed capability is known", async (c) => {
    const names = namesAt(c, await requireFeatures(c), "linux", "capabilities");
    const header = readFileSync("/usr/include/linux/capability.h", "utf8");
    const numbers = new Map(
      [...header.matchAll(/^#define (CAP_[A-Z_]+)\s+(\d+)/gm)].map(([, name = "", number]) => [name, Number(number)]),
    );
    const container = await c.create((config) => {
      config.process.capabilities = { bounding: names };
    });
    const own = BigInt(`0x${/^CapBnd:\s*(\w+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]}`);
    const mask = names.reduce((bits, name) => bits | (1n << BigInt(numbers.get(name) ?? 63)), 0n);
    assert.equal(BigInt(`0x${(await container.status()).get("CapBnd")}`), mask & own);
  });
  may(10, "the listed cgroup versions and managers are true on this host", async (c) => {
    const document = await requireFeatures(c);
    for (const name of ["v1", "v2", "systemd", "systemdUser", "rdma"])
      assert.ok(["boolean", c.isRunt ? "boolean" : "undefined"].includes(typeof valueAt(document, "linux", "cgroup", name)), name);
    const container = await c.create((config) => {
      config.linux.resources = { ...config.linux.resources, pids: { limit: 33 } };
    });
    assert.equal(await container.limit("pids", "pids.max"), "33");
    assert.equal(flagAt(c, document, "linux", "cgroup", isUnified() ? "v2" : "v1"), true);
    const bundle = c.bundle((config) => {
      config.linux.cgroupsPath = "runt.slice:runt:fea";
    });
    if (flagAt(c, document, "linux", "cgroup", "systemd")) return;
    assert.notEqual((await c.call(["--systemd-cgroup", "create", "--bundle", bundle, c.container(bundle).id])).status, 0);
  });
  must(11, "every listed seccomp action, operator, architecture and flag is known, and the supported flags work", async (c) => {
    const document = await requireFeatures(c);
    if (!flagAt(c, document, "linux", "seccomp", "enabled")) c.skip("this runtime is built without seccomp");
    const isTold = (name: string) => c.isRunt || valueAt(document, "linux", "seccomp", name) !== undefined;
    await checkSeccompNames(c, (name) => (isTold(name) ? namesAt(c, document, "linux", "seccomp", name) : []));
  });
  may(12, "features says whether AppArmor and SELinux are built in, independent of the host", async (c) => {
    const document = await requireFeatures(c);
    const told = (from: Document) => ["apparmor", "selinux"].map((name) => flagAt(c, from, "linux", name, "enabled"));
    const present =
      "mkdir -p kernel/security/apparmor module/apparmor/parameters fs/selinux && echo Y > module/apparmor/parameters/enabled && " +
      "echo > kernel/security/apparmor/profiles && echo 1 > fs/selinux/enforce";
    assert.deepEqual(told(await toldAfter(c, withSys("true"))), told(document));
    assert.deepEqual(told(await toldAfter(c, withSys(present))), told(document));
  });
  must(13, "every listed memory policy and flag is known", async (c) => {
    const document = await requireFeatures(c);
    const nodesOf = (mode: string | undefined) => (mode === "MPOL_DEFAULT" || mode === "MPOL_LOCAL" ? {} : { nodes: "0" });
    const modes: Using = ([mode]) => policy({ mode, ...nodesOf(mode) });
    const flags: Using = (list) => policy({ mode: "MPOL_BIND", nodes: "0", flags: list });
    await recognised(c, modes, namesAt(c, document, "linux", "memoryPolicy", "modes"));
    await recognised(c, flags, namesAt(c, document, "linux", "memoryPolicy", "flags"));
  });
  may(14, "features says which parts of Intel RDT are supported; a configuration that asks for it is not ignored", async (c) => {
    const document = await requireFeatures(c);
    for (const name of ["enabled", "schemata", "monitoring"]) flagAt(c, document, "linux", "intelRdt", name);
    const rdt =
      (intelRdt: object): Change =>
      (config) =>
        Object.assign(config.linux, { intelRdt });
    await c.refused(rdt({ closID: "no-such-group" }), /^\/linux\/intelRdt/);
    await c.refused(rdt({ schemata: ["L3:0=1;1=1"] }), /^\/linux\/intelRdt/);
  });
  must(15, "idmap is enabled in features if and only if the id mappings of a mount are applied", async (c) => {
    const enabled = flagAt(c, await requireFeatures(c), "linux", "mountExtensions", "idmap", "enabled");
    const change = idmapped(c);
    if (!enabled) return void (await c.refused(change, /^\/mounts\/\d+/));
    const text = await c.output(["/bin/stat", "-c", "%u:%g", "/mnt/file"], change);
    assert.equal(text.trim(), "1234:4321");
  });
  may(16, "features says whether network devices can be moved; a configuration that asks for it is not ignored", async (c) => {
    flagAt(c, await requireFeatures(c), "linux", "netDevices", "enabled");
    await c.refused((config) => Object.assign(config.linux, { netDevices: { "no-such-link": {} } }), /^\/linux\/netDevices/);
  });
  must(17, "the annotations of the features have names and values that are strings", async (c) => {
    const annotations = (await requireFeatures(c))["annotations"];
    assert.ok(annotations !== null && typeof annotations === "object" && !Array.isArray(annotations));
    for (const [name, value] of Object.entries(annotations)) {
      assert.ok(name !== "", "an empty name");
      assert.equal(typeof value, "string", name);
    }
  });
  may(18, "annotations that may be unsafe are listed by name, or by the beginning of the name up to a dot", async (c) => {
    const names = namesAt(c, await requireFeatures(c), "potentiallyUnsafeConfigAnnotations");
    assert.equal(new Set(names).size, names.length, "one is listed twice");
    for (const name of names) assert.doesNotMatch(name, /\s|^\.|\*/, name);
    // "org.opencontainers." and the like would declare everything unsafe.
    assert.ok(!names.includes("."));
  });
});

/** A bound directory whose files, owned by root, are to look like another user's. */
function idmapped(c: Context): Change {
  const source = c.scratch("idmapped");
  writeFileSync(join(source, "file"), "");
  return (config) =>
    config.mounts.push({
      destination: "/mnt",
      type: "bind",
      source,
      options: ["bind"],
      uidMappings: [{ containerID: 0, hostID: 1234, size: 1 }],
      gidMappings: [{ containerID: 0, hostID: 4321, size: 1 }],
    });
}
