/** Requests of Podman beyond the specification. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot || !isRunt)("requests of engines", () => {
  const { bundle, id, ok, runtime } = useHarness();

  it("tmpcopyup fills a tmpfs with what it covers", async () => {
    const path = bundle((config) => {
      config.mounts.push({ destination: "/etc", type: "tmpfs", source: "tmpfs", options: ["nosuid", "tmpcopyup"] });
      shell(config, "grep -c ' /etc tmpfs ' /proc/mounts; grep ^root: /etc/passwd; stat -c '%a %u' /etc/passwd; touch /etc/new");
    });
    expect(await ok(["run", "-b", path, id()])).toBe("1\nroot:x:0:0:root:/root:/bin/sh\n644 0\n");
  });

  it("tmpcopyup keeps links, directories and modes", async () => {
    const path = bundle((config) => {
      config.mounts.push({ destination: "/usr", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"] });
      shell(config, "readlink /usr/bin/env; test -d /usr/sbin && echo directory");
    });
    expect(await ok(["run", "-b", path, id()])).toBe("/bin/busybox\ndirectory\n");
  });

  it("tmpcopyup of a directory that is not there is an empty tmpfs", async () => {
    const path = bundle((config) => {
      config.mounts.push({ destination: "/not/there", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"] });
      shell(config, "ls -A /not/there | wc -l");
      config.root.readonly = false;
      config.mounts.unshift({ destination: "/not", type: "tmpfs", source: "tmpfs" });
    });
    expect((await ok(["run", "-b", path, id()])).trim()).toBe("0");
  });

  it("--cgroup-manager disabled leaves the container where its caller is", async () => {
    const path = bundle((config) => {
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
      shell(config, "cat /proc/self/cgroup");
    });
    const { stdout, stderr, status } = await runtime(["--cgroup-manager", "disabled", "run", "-b", path, id()]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const own = readFileSync("/proc/self/cgroup", "utf8");
    for (const line of own.trim().split("\n")) expect(stdout).toContain(line.split(":").slice(1).join(":"));
  });

  it("--cgroup-manager disabled asks for no controller, and says that limits have no effect", async () => {
    const path = bundle((config) => {
      config.linux.resources = {
        unified: { "nothing.max": "1" },
        hugepageLimits: [{ pageSize: "3KB", limit: 1 }],
        rdma: { none: { hcaHandles: 1 } },
      };
      shell(config, "echo ran");
    });
    expect(await runtime(["--cgroup-manager", "disabled", "--debug", "run", "-b", path, id()])).toMatchObject({
      status: 0,
      stdout: "ran\n",
      stderr: expect.stringContaining("linux.resources has no effect without a cgroup"),
    });
  });

  it("a --cgroup-manager that there is not is refused by name", async () => {
    const { status, stderr } = await runtime(["--cgroup-manager=elsewhere", "list"]);
    expect(status).toBe(1);
    expect(stderr).toContain("--cgroup-manager elsewhere: use cgroupfs, systemd or disabled");
  });
});
