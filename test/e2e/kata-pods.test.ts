/** Rows of docs/kata-annotations.md on pods: the sandbox that a container names, what its containers share, and what the state says of it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";
import { annotated, CRI, useKataRows } from "../support/kata-rows.ts";

describe.skipIf(!isRoot || !isRunt)("rows of Kata Containers: pods", () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, root, runtime, until } = harness;
  const { findings, output, printing, started, stateOf, staying } = useKataRows(harness);

  test.each([
    ["containerd", `${CRI}.container-type`, `${CRI}.sandbox-id`, "sandbox"],
    ["cri-o", "io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri-o.SandboxID", "sandbox"],
    ["dockershim", "io.kubernetes.docker.type", "io.kubernetes.sandbox.id", "podsandbox"],
  ])("K2, K3, K4: plan knows a sandbox and a container of %s", async (manager, typeKey, idKey, word) => {
    for (const [value, type] of [
      [word, "sandbox"],
      ["container", "container"],
    ]) {
      const path = bundle(annotated({ [typeKey!]: value!, [idKey!]: "p1" }));
      const plan = JSON.parse(await ok(["plan", "-f", "json", "-b", path, "c"]));
      expect(plan.sandbox).toMatchObject({ type, manager, id: "p1" });
      expect(await ok(["plan", "-b", path, "c"])).toMatch(new RegExp(`^ SANDBOX ${type} (of sandbox )?p1 \\(${manager}\\)`, "m"));
      const valid = new Ajv2020({ strict: false }).compile(JSON.parse(await ok(["schema", "plan"])));
      expect([valid(plan), valid.errors]).toEqual([true, null]);
    }
  });

  test("K22: a network namespace of its own, of another one, or of the host", async () => {
    const network = (entry?: { type: string; path?: string }) =>
      printing("readlink /proc/self/ns/net", (config) => {
        config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "network");
        if (entry) config.linux.namespaces.push(entry);
        else config.mounts = config.mounts.filter(({ type }) => type !== "sysfs");
      });
    const { pid } = await started(staying());
    const [own, host, other] = [
      await output(network({ type: "network" })),
      await output(network()),
      await output(network({ type: "network", path: `/proc/${pid}/ns/net` })),
    ];
    expect(host.trim()).toBe(readlinkSync("/proc/self/ns/net"));
    expect(other.trim()).toBe(readlinkSync(`/proc/${pid}/ns/net`));
    expect(new Set([own, host, other]).size).toBe(3);
  });

  test("K26: an unknown word is refused before anything is done", async () => {
    const path = bundle(annotated({ [`${CRI}.container-type`]: "pod" }));
    const name = id();
    const { status, stderr } = await runtime(["create", "-b", path, name]);
    expect(status).toBe(1);
    expect(stderr).toContain('unknown container type "pod"');
    expect(stderr).toContain(`(at /annotations/${CRI}.container-type)`);
    expect(existsSync(join(root, name))).toBe(false);
    expect((await runtime(["plan", "-b", path, name])).status).toBe(1);
  });

  test("K27: a container names its sandbox, and validate says when that is gone", async () => {
    const { name, pid } = await started(staying());
    const path = staying((config) => {
      annotated({ [`${CRI}.container-type`]: "container", [`${CRI}.sandbox-id`]: name })(config);
      config.linux.namespaces = config.linux.namespaces.map((entry) =>
        entry.type === "network" ? { ...entry, path: `/proc/${pid}/ns/net` } : entry,
      );
    });
    const GONE = `sandbox-gone /annotations/${CRI}.sandbox-id`;
    expect(await findings(path)).not.toContain(GONE);
    await ok(["delete", "--force", name]);
    expect(await findings(path)).toContain(GONE);
    expect((await runtime(["validate", "-b", path])).stdout).toContain(`there is no sandbox "${name}" below ${root}`);
    expect((await runtime(["create", "-b", path, id()])).stderr).toContain(`/proc/${pid}/ns/net`);
    // What is no name of a container is not looked up as a path.
    expect(await findings(bundle(annotated({ [`${CRI}.container-type`]: "container", [`${CRI}.sandbox-id`]: ".." })))).toContain(GONE);
  });

  test("K28, K32: the state has the annotations as they are, and no process when it has ended", async () => {
    const annotations = { "io.katacontainers.config.hypervisor.kernel": "/k", [`${CRI}.sandbox-name`]: "n=1" };
    const { name, pid } = await started(staying(annotated(annotations)));
    expect(await stateOf(name)).toMatchObject({ id: name, pid, status: "running", annotations });
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    const state = await stateOf(name);
    expect(state).toMatchObject({ pid: 0, annotations });
    // What runc's has, and nothing of what is kept for this runtime alone.
    expect(Object.keys(state).sort()).toEqual(["annotations", "bundle", "created", "id", "ociVersion", "owner", "pid", "rootfs", "status"]);
  });

  test("K29: the containers of a pod share what the first one makes, and configurations are kept once", async () => {
    const SHARED = { network: "net", ipc: "ipc", uts: "uts" } as const;
    const first = await started(staying(annotated({ [`${CRI}.container-type`]: "sandbox", [`${CRI}.sandbox-id`]: "p" })));
    const second = await started(
      staying((config) => {
        config.linux.namespaces = config.linux.namespaces.map((entry) =>
          entry.type in SHARED ? { ...entry, path: `/proc/${first.pid}/ns/${SHARED[entry.type as keyof typeof SHARED]}` } : entry,
        );
        delete config.hostname;
      }),
    );
    for (const file of [...Object.values(SHARED), "pid"]) {
      const [one, two] = [first, second].map(({ pid }) => readlinkSync(`/proc/${pid}/ns/${file}`));
      expect(one === two, file).toBe(file !== "pid");
    }
    const files = readdirSync(join(root, first.name)).filter((file) => file.endsWith(".json"));
    const withMounts = files.filter((file) => readFileSync(join(root, first.name, file), "utf8").includes('"destination"'));
    expect(withMounts).toEqual(["config.json"]);
  });

  test("K31: /dev/shm is as large as its mount says, or the pod's, or not there", async () => {
    const shared = join(directory, "shm");
    mkdirSync(shared);
    const shm = (...mounts: Config["mounts"]) =>
      printing("grep -q ' /dev/shm ' /proc/self/mountinfo && df -k /dev/shm | tail -n 1 | awk '{ print $2 }'", (config) => {
        config.mounts = [...config.mounts.filter(({ destination }) => destination !== "/dev/shm"), ...mounts];
      });
    // The pod's is a tmpfs of 2 MiB, which is gone with the mount namespace that it is made in.
    const script = 'mount -t tmpfs -o size=2m tmpfs "$1" && shift && exec "$@"';
    const shown = async (path: string) => {
      const command = ["unshare", "-m", "sh", "-c", script, "sh", shared, RUNTIME, "--root", root, "run", "-b", path, id()];
      const { stdout, stderr } = await call(directory, command);
      return stdout + stderr;
    };
    const own = { destination: "/dev/shm", type: "tmpfs", source: "shm", options: ["size=1m"] };
    const pod = { destination: "/dev/shm", type: "bind", source: shared, options: ["rbind"] };
    expect(await shown(shm(own))).toBe("1024\n");
    expect(await shown(shm(pod))).toBe("2048\n");
    expect(await shown(shm())).toBe("");
  });
});
