/** `events --stats` of runt and of runc on one and the same container: the same text. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { call, isRoot, shell, useHarness } from "../support/harness.ts";

const RUNC = "/usr/sbin/runc";

describe.skipIf(!isRoot || isUnified || !existsSync(RUNC))("events --stats beside runc (needs root, cgroup v1 and runc)", () => {
  const { bundle, directory, id, ok, root } = useHarness({ peers: true });

  /** A container of runc, which runt gets to know by a record of its own. */
  async function adopted(name: string, resources: Record<string, unknown>): Promise<(args: readonly string[]) => Promise<string>> {
    let place = "";
    const path = bundle((config) => {
      shell(config, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; cat /bin/busybox >/dev/null; exec sleep 1000");
      config.linux.resources = resources;
      place = config.linux.cgroupsPath;
    });
    const runc = async (args: readonly string[]) => {
      const { status, stdout, stderr } = await call(directory, [RUNC, "--root", `${root}-runc`, ...args]);
      if (status !== 0) throw new Error(`runc ${args.join(" ")}: ${stderr}`);
      return stdout;
    };
    await runc(["run", "-d", "-b", path, name]);
    const { pid } = JSON.parse(await runc(["state", name]));
    await expect.poll(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")).toBe("sleep\x001000\0");
    const record = {
      schema: 1,
      id: name,
      phase: "created",
      ociVersion: "1.0.2",
      bundle: path,
      rootfs: "/",
      created: new Date().toISOString(),
      owner: 0,
      pid,
      startTime: readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")[19],
      cgroup: {
        version: 1,
        paths: readdirSync(CGROUPS)
          .filter((hierarchy) => hierarchy !== "unified" && existsSync(`${CGROUPS}/${hierarchy}${place}/tasks`))
          .map((hierarchy) => `${CGROUPS}/${hierarchy}${place}`),
      },
      startable: true,
      privatePid: true,
      exec: { namespaces: [], chroot: false, keyring: false },
      annotations: {},
      warnings: [],
    };
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, "state.json"), JSON.stringify(record));
    return runc;
  }

  test.each([
    ["without limits", {}],
    ["with limits", { memory: { limit: 32 << 20, swap: 48 << 20 }, pids: { limit: 20 }, cpu: { quota: 20_000, period: 100_000 } }],
  ])("%s", async (_, resources) => {
    const name = id();
    const runc = await adopted(name, resources);
    try {
      // The kernel gives memory back some time after the process has become still.
      let other = "";
      let own = "other";
      for (let attempt = 0; own !== other && attempt < 20; attempt++) {
        other = await runc(["events", "--stats", name]);
        own = await ok(["events", "--stats", name]);
      }
      expect(JSON.parse(own).data.cpu.usage.total).toBeGreaterThan(0);
      expect(own).toBe(other);
    } finally {
      await runc(["delete", "--force", name]);
    }
  });
});
