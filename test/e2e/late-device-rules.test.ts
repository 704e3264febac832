/** Device rules are set while init works: nobody's program runs before them, and a failure undoes all of it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CGROUPS, hasControllers, isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

const STRACE = "/usr/bin/strace";
/** A device of every host that containers may not read unless a rule says so. */
const DENIED = "/dev/kmsg";
const READ = `dd if=${DENIED} of=/dev/null bs=8192 count=1 iflag=nonblock`;

describe.skipIf(!isRoot || !isRunt || !existsSync(STRACE) || !existsSync(DENIED))(
  `device rules beside init (needs root, ${STRACE}, ${DENIED})`,
  () => {
    const { bundle, directory, id, root, runtime } = useHarness();
    const strace = (options: readonly string[], path: string, name: string) => {
      const output = join(directory, `${name}.strace`);
      const command = [STRACE, "-f", "-s", "200", ...options, "-o", output, RUNTIME, "--root", root, "run", "-b", path, name];
      return call(directory, command).then((result) => ({ ...result, lines: readFileSync(output, "utf8").split("\n") }));
    };
    const plain = (config: Config): void => shell(config, "true");

    test.skipIf(!isUnified)("the program is attached when there is a helper that clones, and before the container may start", async () => {
      const { status, lines } = await strace([], bundle(plain), id());
      expect(status).toBe(0);
      const place = (what: RegExp) => lines.findIndex((line) => what.test(line));
      const attached = place(/BPF_PROG_ATTACH/);
      // The message `plan`, and `commit`: the runtime sends both.
      expect(attached).toBeGreaterThan(place(/sendmsg\(.*iov_base="\\r\\0/));
      expect(attached).toBeLessThan(place(/sendmsg\(.*iov_base="\\6\\0/));
    });

    test.skipIf(isUnified || !hasControllers)("init makes nodes behind its cgroup mounts while they are written slowly", async () => {
      const name = id();
      const path = bundle((config) => {
        plain(config);
        config.linux.cgroupsPath = `${CGROUP_PARENT}/${name}`;
        config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup" });
        config.mounts.push({ destination: "/late", type: "tmpfs", source: "tmpfs" });
      });
      const slow = ["deny", "allow"].flatMap((which) => ["-P", join(CGROUPS, "devices", CGROUP_PARENT, name, `devices.${which}`)]);
      const { status, stderr } = await strace([...slow, "-e", "inject=write:delay_exit=30000"], path, name);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    });

    test.each(["prestart", "createRuntime", "createContainer"])("no %s hook runs before them", async (kind) => {
      const marker = join(directory, "hook ran");
      const path = bundle((config) => {
        plain(config);
        config.hooks = { [kind]: [{ path: "/bin/sh", args: ["sh", "-c", `: > '${marker}'`] }] };
      });
      const { status, lines } = await strace([], path, id());
      expect(status).toBe(0);
      const set = lines.flatMap((line, index) => (/BPF_PROG_ATTACH|openat\(.*\/devices\.(allow|deny)"/.test(line) ? [index] : []));
      expect(set.length).toBeGreaterThan(0);
      expect(lines.findIndex((line) => line.includes("execve(") && line.includes(marker))).toBeGreaterThan(set.at(-1)!);
    });

    test("they hold for a createContainer hook", async () => {
      const output = join(directory, "hook.out");
      const path = bundle((config) => {
        plain(config);
        config.hooks = { createContainer: [{ path: "/bin/sh", args: ["sh", "-c", `${READ} 2> '${output}'; true`] }] };
      });
      for (let round = 0; round < 5; round++) {
        writeFileSync(output, "");
        expect((await runtime(["run", "-b", path, id()])).status).toBe(0);
        expect(readFileSync(output, "utf8")).toContain("Operation not permitted");
      }
    });

    test("they hold for the program from its first instruction", async () => {
      const path = bundle((config) => {
        config.process.args = ["/bin/dd", `if=${DENIED}`, "of=/dev/null", "bs=8192", "count=1"];
        config.linux.devices = [{ path: DENIED, type: "c", major: 1, minor: 11 }];
      });
      for (let round = 0; round < 5; round++) {
        const { status, stderr } = await runtime(["run", "-b", path, id()]);
        expect(status).toBe(1);
        expect(stderr).toContain("Operation not permitted");
      }
    });

    test.skipIf(!isUnified).each([
      ["created", ["create"]],
      ["run", ["run"]],
    ])("nothing is left when they cannot be set for a container that is %s", async (_, [verb = ""]) => {
      const name = id();
      const path = bundle((config) => {
        plain(config);
        config.linux.cgroupsPath = `/${name}/inner`;
      });
      const output = join(directory, "refused.strace");
      const refuse = ["-e", "inject=bpf:error=EPERM", "-o", output];
      const { status, stderr } = await call(directory, [STRACE, "-f", ...refuse, RUNTIME, "--root", root, verb, "-b", path, name]);
      expect(status).toBe(1);
      expect(stderr).toContain(`cannot set the device rules of ${CGROUPS}/${name}/inner: operation not permitted`);
      expect(existsSync(join(root, name))).toBe(false);
      expect(existsSync(join(CGROUPS, name))).toBe(false);
      const processes = new Set(readFileSync(output, "utf8").match(/^\d+/gm));
      expect(processes.size).toBeGreaterThan(1);
      expect([...processes].filter((pid) => commandOf(pid).startsWith("runt"))).toEqual([]);
    });
  },
);

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
