/** Settings of a namespace of the container's own never reach the runtime's namespace: UTS-03, UTS-04, SYS-01 to SYS-06, NSP-09. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { makeNetworkNamespace } from "../support/network-namespace.ts";

describe.skipIf(!isRoot || !isRunt)("own namespaces (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();

  async function refused(change: (config: Config) => void): Promise<string> {
    const { status, stderr } = await runtime(["create", "-b", bundle(change), id()]);
    expect(status).toBe(1);
    expect(existsSync(root) ? readdirSync(root) : []).toEqual([]);
    return stderr;
  }
  const without = (config: Config, type: string) => {
    config.linux.namespaces = config.linux.namespaces.filter((namespace) => namespace.type !== type);
  };
  const at = (config: Config, type: string, path: string) => {
    without(config, type);
    config.linux.namespaces.push({ type, path });
  };

  test.each(["hostname", "domainname"])("UTS-03 without an own UTS namespace there is no %s to set", async (field) => {
    const own = `/proc/${process.pid}/ns/uts`;
    const before = [hostname(), readFileSync("/proc/sys/kernel/domainname", "utf8")];
    const shared = await refused((config) => {
      without(config, "uts");
      delete config.hostname;
      config[field] = "changed";
    });
    expect(shared).toContain(`unable to set ${field} without a private UTS namespace`);
    const joined = await refused((config) => {
      at(config, "uts", own);
      delete config.hostname;
      config[field] = "changed";
    });
    expect(joined).toContain(`unable to set ${field}: ${own} is the uts namespace of the runtime itself`);
    expect([hostname(), readFileSync("/proc/sys/kernel/domainname", "utf8")]).toEqual(before);
  });

  test.each([
    ["network", "net", "net.ipv4.ip_forward"],
    ["ipc", "ipc", "kernel.msgmax"],
    ["uts", "uts", "kernel.domainname"],
    ["user", "user", "user.max_user_namespaces"],
  ])("SYS-03 a path to the runtime's own %s namespace (%s) is not a namespace of %s", async (type, file, key) => {
    const error = await refused((config) => {
      delete config.hostname;
      at(config, type, `/proc/self/ns/${file}`);
      config.linux.sysctl = { [key]: "1" };
    });
    expect(error).toContain(`sysctl "${key}" is not in a separate kernel namespace: /proc/self/ns/${file} is the ${type} namespace`);
    expect(error).toContain(`(at /linux/sysctl/${key})`);
  });

  test("without anything to set, the runtime's own namespaces may be joined", async () => {
    const path = bundle((config) => {
      delete config.hostname;
      for (const [type, file] of [
        ["uts", "uts"],
        ["ipc", "ipc"],
        ["network", "net"],
      ] as const)
        at(config, type, `/proc/self/ns/${file}`);
      shell(config, "readlink /proc/self/ns/uts");
    });
    expect((await ok(["run", "-b", path, id()])).trim()).toBe(readlinkSync("/proc/self/ns/uts"));
  });

  test("UTS-04 SYS-03 names and sysctls are set in namespaces that are joined", async () => {
    const first = id();
    const pidFile = join(directory, first);
    await ok(["run", "-d", "--pid-file", pidFile, "-b", bundle((config) => shell(config, "exec sleep 60")), first]);
    const pid = readFileSync(pidFile, "utf8");
    const second = bundle((config) => {
      at(config, "uts", `/proc/${pid}/ns/uts`);
      at(config, "network", `/proc/${pid}/ns/net`);
      config.hostname = "the-second";
      config["domainname"] = "its-domain";
      config.linux.sysctl = { "net.ipv4.ip_forward": "1" };
    });
    await ok(["run", "-b", second, id()]);
    const keys = ["kernel/hostname", "kernel/domainname", "net/ipv4/ip_forward"].map((key) => `/proc/sys/${key}`);
    const seen = await call(directory, ["nsenter", "-t", pid, "-u", "-n", "cat", ...keys]);
    expect(seen.stdout).toBe("the-second\nits-domain\n1\n");
    expect(hostname()).not.toBe("the-second");
  });

  test("SYS-05 user.* in an own user namespace", async () => {
    const path = bundle((config) => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      config.linux.sysctl = { "user.max_user_namespaces": "17" };
      shell(config, "cat /proc/sys/user/max_user_namespaces");
    });
    expect(await ok(["run", "-b", path, id()])).toBe("17\n");
  });

  test("NSP-09 the loopback device of a new network namespace is up, that of a joined one is left alone", async () => {
    const up = "cat /sys/class/net/lo/flags";
    expect(await ok(["run", "-b", bundle((config) => shell(config, up)), id()])).toBe("0x9\n");
    const joined = await makeNetworkNamespace();
    const path = bundle((config) => {
      at(config, "network", joined.file);
      shell(config, up);
    });
    expect(await ok(["run", "-b", path, id()])).toBe("0x8\n");
    joined.end();
  });
});
