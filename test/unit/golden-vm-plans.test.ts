/** The two sides of the plans of containers in machines, as text: a change of a plan is a change somebody has read. Renew with `vitest run -u`. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { cgroupSources, compileCgroup, resolveCgroup } from "../../src/runtime/cgroup/index.ts";
import { deriveConfig } from "../../src/runtime/config/index.ts";
import { DEFAULT_SETTINGS } from "../../src/runtime/isolation/asked/settings.ts";
import { guestPlan } from "../../src/runtime/isolation/configurations/guest.ts";
import { type Sides, splitSpec } from "../../src/runtime/isolation/configurations/split.ts";
import { compile, type Plan, printPlan } from "../../src/runtime/plan/index.ts";
import { absolutePath, parseSpec, type Spec } from "../../src/runtime/spec/index.ts";
import { HYBRID_HOST, UNIFIED_HOST } from "../support/hosts.ts";

const BUNDLES = resolve(import.meta.dirname, "../../bundles");
const BUNDLE = "/bundles/golden";
const read = (name: string): Spec => parseSpec(readFileSync(join(BUNDLES, name, "config.json"), "utf8"), true);
const HELLO = read("hello");
const samples = readdirSync(BUNDLES, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

const linux = (change: NonNullable<Spec["linux"]>): Spec => ({ ...HELLO, linux: { ...HELLO.linux, ...change } });
const process = (change: Partial<NonNullable<Spec["process"]>>): Spec => ({ ...HELLO, process: { ...HELLO.process!, ...change } });
const mount = (...more: NonNullable<Spec["mounts"]>): Spec => ({ ...HELLO, mounts: [...(HELLO.mounts ?? []), ...more] });

const VARIANTS: Readonly<Record<string, Spec>> = {
  ...Object.fromEntries(samples.map((name) => [`sample-${name}`, read(name)])),
  "root-writable": { ...HELLO, root: { path: "rootfs" } },
  "root-absolute": { ...HELLO, root: { path: "/images/one", readonly: true } },
  "volume-writable": mount({ destination: "/data", type: "bind", source: "/srv/data", options: ["rbind", "rprivate"] }),
  "volume-readonly": mount({ destination: "/data", type: "bind", source: "data", options: ["bind", "ro", "nosuid"] }),
  "volume-recursively-readonly": mount({ destination: "/data", source: "/srv/data", options: ["rbind", "rro"] }),
  "volumes-many": mount(
    ...["hosts", "hostname", "resolv.conf"].map((name) => ({ destination: `/etc/${name}`, source: `/run/pod/${name}`, options: ["bind"] })),
  ),
  tmpfs: mount({ destination: "/scratch", type: "tmpfs", source: "tmpfs", options: ["size=1m", "mode=1777"] }),
  cgroups: mount({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["ro"] }),
  memory: linux({ resources: { memory: { limit: 64 << 20, swap: 64 << 20 } } }),
  "memory-large": linux({ resources: { memory: { limit: 3n << 30n } } }),
  cpus: linux({ resources: { cpu: { quota: 250_000, period: 100_000, shares: 512 } } }),
  "cpu-set": linux({ resources: { cpu: { cpus: "0-1", mems: "0" } } }),
  pids: linux({ resources: { pids: { limit: 10 } } }),
  "device-rules": linux({ resources: { devices: [{ allow: false, access: "rwm" }] } }),
  "block-device": linux({
    devices: [{ type: "b", path: "/dev/data", major: 8, minor: 16, fileMode: 0o600 }],
    resources: { devices: [{ allow: true, type: "b", major: 8, minor: 16, access: "r" }] },
  }),
  unified: linux({ resources: { unified: { "memory.high": "33554432" } } }),
  "network-joined": linux({
    namespaces: [{ type: "pid" }, { type: "ipc" }, { type: "mount" }, { type: "network", path: "/run/netns/pod" }],
  }),
  "network-of-the-host": linux({ namespaces: [{ type: "pid" }, { type: "ipc" }, { type: "mount" }, { type: "uts" }] }),
  "user-namespace": linux({
    namespaces: [...HELLO.linux!.namespaces!, { type: "user" }],
    uidMappings: [{ containerID: 0, hostID: 100_000, size: 65_536 }],
    gidMappings: [{ containerID: 0, hostID: 100_000, size: 65_536 }],
  }),
  sysctl: linux({ sysctl: { "net.ipv4.ip_forward": "1" } }),
  masks: linux({ maskedPaths: ["/proc/kcore"], readonlyPaths: ["/proc/sys"] }),
  "root-slave": linux({ rootfsPropagation: "rslave" }),
  seccomp: linux({ seccomp: { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["mkdir"], action: "SCMP_ACT_ERRNO" }] } }),
  terminal: process({ terminal: true, consoleSize: { height: 40, width: 100 } }),
  user: process({ user: { uid: 1000, gid: 1000, additionalGids: [5] } }),
  rlimits: process({ rlimits: [{ type: "RLIMIT_NOFILE", soft: 64, hard: 128 }] }),
  oom: process({ oomScoreAdj: 500 }),
  labels: process({ apparmorProfile: "docker-default", selinuxLabel: "a:b:c:d" }),
  "hooks-of-the-host": { ...HELLO, hooks: { createRuntime: [{ path: "/bin/hook" }], poststop: [{ path: "/bin/after" }] } },
  "hooks-of-the-guest": { ...HELLO, hooks: { startContainer: [{ path: "/hook" }] } },
  annotations: { ...HELLO, annotations: { "io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-id": "s" } },
  "without-a-process": { ...HELLO, process: undefined },
};

const split = (spec: Spec): Sides =>
  splitSpec(spec, {
    ...{ id: "golden", settings: DEFAULT_SETTINGS, runt: "/usr/bin/runt" },
    inBundle: (path) => absolutePath(BUNDLE, path),
  });

function hostPlan(spec: Spec, facts: typeof HYBRID_HOST): Plan {
  const config = deriveConfig(spec, { bundle: BUNDLE });
  const path = resolveCgroup(config.cgroupsPath, "golden");
  const cgroup = compileCgroup(facts, path, config.resources, { rootless: false });
  const consoleSocket = config.process?.terminal ? { consoleSocket: "/run/console.sock" } : {};
  return compile({
    config,
    host: {
      ...{ stateDirectory: "/run/runt/golden", rootless: false, cgroupVersion: facts.version },
      ...{ cgroupSources: cgroupSources(facts, path), cgroup },
    },
    invocation: {
      ...{ id: "golden", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0 },
      ...consoleSocket,
    },
  });
}

describe.each(Object.entries(VARIANTS))("%s", (name, spec) => {
  it("has the golden plans of its two sides", async () => {
    const sides = split(spec);
    const guest = guestPlan(deriveConfig(sides.guest, { bundle: "/bundle" }), "golden");
    const warnings = sides.warnings.map(({ pointer, message }) => `warning: ${message} (${pointer})\n`).join("");
    const host = printPlan(hostPlan(sides.host, UNIFIED_HOST));
    await expect(`${host}# in the machine\n${printPlan(guest)}${warnings}`).toMatchFileSnapshot(`../golden/vm/${name}.plan`);
  });

  it("keeps what runs on the host apart from what the container is", () => {
    for (const facts of [HYBRID_HOST, UNIFIED_HOST]) {
      const plan = hostPlan(split(spec).host, facts);
      const program = plan.ops.find(({ op }) => op === "process.program");
      expect(program?.args).toEqual(spec.process ? { name: "/runt", path: "/usr/bin:/bin" } : undefined);
      // Whatever the container asks for: the mounts of its machine's processes end with them.
      expect(plan.ops.find(({ op }) => op === "process.clone")?.args).toBeDefined();
      expect(plan.ops.some(({ op }) => op === "root.pivot")).toBe(true);
    }
  });
});
