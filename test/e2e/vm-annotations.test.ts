/** Annotations of Kata Containers and the /dev/shm of a pod, which change a machine: seen from inside, as a user's commands see them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shell, useHarness } from "../support/harness.ts";
import { runSync } from "../support/run-sync.ts";
import { machineMissing, VM, VM_CONFIG, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";

const missing = machineMissing();
const PREFIX = "io.katacontainers.config.hypervisor.";

describe.skipIf(missing !== undefined)(`annotations of a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const { bundle, directory, id, ok, runtime } = useHarness();

  const asking = (annotations: Readonly<Record<string, string>>, script: string) =>
    bundle((config) => {
      const entries = Object.entries(annotations).map(([name, value]) => [`${PREFIX}${name}`, value]);
      Object.assign(config, { annotations: Object.fromEntries(entries) });
      shell(config, script);
    });

  test("K10: size, kernel parameters and file cache are those that the operator lets the annotations choose", async () => {
    const path = join(directory, "vm.json");
    const allow = { annotations: ["default_vcpus", "default_memory", "kernel_params", "virtio_fs_cache"] };
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(VM_CONFIG, "utf8")), allow }));
    const asked = { default_vcpus: "2", default_memory: "400", kernel_params: "runt.test=yes", virtio_fs_cache: "never" };
    const script = "nproc; sed -n 's/MemTotal: *//p' /proc/meminfo; cat /proc/cmdline";
    const { status, stdout } = await runtime(["run", ...VM, "-b", asking(asked, script), id()], { env: { RUNT_VM_CONFIG: path } });
    expect(status).toBe(0);
    const [cpus, memory, words] = stdout.split("\n");
    expect(cpus).toBe("2");
    expect(Number.parseInt(memory!, 10)).toBeGreaterThan(300 * 1024);
    expect(Number.parseInt(memory!, 10)).toBeLessThan(400 * 1024);
    expect(words).toMatch(/ runt\.test=yes -- machine-guest 65536$/);
  });

  test("K31: a pod has as much of /dev/shm as the engine has made for it on the host", async () => {
    const shm = join(directory, "shm");
    mkdirSync(shm);
    runSync("mount", ["-t", "tmpfs", "-o", "size=8m", "shm", shm]);
    try {
      const path = bundle((config) => {
        Object.assign(config, { annotations: { "io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-id": "pod" } });
        config.mounts = config.mounts.filter(({ destination }) => destination !== "/dev/shm");
        config.mounts.push({ destination: "/dev/shm", type: "bind", source: shm, options: ["rbind"] });
        shell(config, "df -k /dev/shm | tail -n 1 | awk '{ print $1, $2 }'");
      });
      expect(await ok(["run", ...VM, "-b", path, id()], WITH_IMAGE)).toBe("tmpfs 8192\n");
    } finally {
      runSync("umount", [shm]);
    }
  });

  test("K10, K28: what the operator has not allowed, and what no machine can have, is refused before anything is made", async () => {
    for (const name of ["default_memory", "guest_hook_path"]) {
      const { status, stderr } = await runtime(["run", ...VM, "-b", asking({ [name]: "512" }, "true"), id()], WITH_IMAGE);
      expect(status).not.toBe(0);
      expect(stderr).toContain(`(at /annotations/${PREFIX}${name})`);
    }
  });
});
