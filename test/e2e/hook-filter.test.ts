/** What a startContainer hook may do: the rights of the process, and its filter. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { type Hook, script, useHooks } from "../support/hooks.ts";

describe.skipIf(!isRoot || !isRunt)("rights of startContainer hooks (needs root)", () => {
  const harness = useHarness();
  const { id, ok, runtime } = harness;
  const { log, note, read, withHooks } = useHooks(harness);

  test("startContainer has the rights of the process", async () => {
    const name = id();
    const path = withHooks(
      { startContainer: [note("startContainer", "id -u; id -g; umask; pwd; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status")] },
      (config) => {
        config.process.user = { uid: 1000, gid: 1001, umask: 0o27 };
        config.process.cwd = "/tmp";
        config.process.noNewPrivileges = true;
        shell(config, "exec sleep 60");
      },
    );
    await ok(["create", "-b", path, name]);
    await ok(["start", name]);
    expect(read("startContainer.out").trim().split("\n")).toEqual([
      "1000",
      "1001",
      "0027",
      "/tmp",
      "CapEff:\t0000000000000000",
      "NoNewPrivs:\t1",
    ]);
  });

  describe("startContainer hooks have the filter of the program", () => {
    const filter = (config: Config, action: string, names: readonly string[]) => {
      config.linux.seccomp = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names, action: `SCMP_ACT_${action}` }] };
    };
    const MKDIR = ["mkdir", "mkdirat"];

    test.each([
      ["with no_new_privs", true, 0],
      ["without no_new_privs", false, 0],
      ["without no_new_privs, another user", false, 1000],
    ])("%s", async (_, noNewPrivileges, uid) => {
      const look = "mkdir /tmp/by-hook && echo made; grep -E '^(Seccomp|Cap(Prm|Eff)):' /proc/self/status";
      const path = withHooks({ startContainer: [note("startContainer", look), script("cat > /dev/null")] }, (config) => {
        filter(config, "ERRNO", MKDIR);
        config.process.noNewPrivileges = noNewPrivileges;
        config.process.user = { uid, gid: uid };
        config.process.capabilities = { bounding: ["CAP_KILL"], permitted: ["CAP_KILL"], effective: ["CAP_KILL"] };
        shell(config, "grep -E '^(Seccomp|Cap(Prm|Eff)):' /proc/self/status > /log/program; exec sleep 60");
      });
      const [created, run] = [id(), id()];
      await ok(["create", "-b", path, created]);
      for (const args of [
        ["start", created],
        ["run", "-d", "-b", path, run],
      ]) {
        rmSync(join(log(), "startContainer.out"), { force: true });
        await ok(args);
        const own = read("startContainer.out").trim().split("\n");
        expect(own[0]).toContain("Operation not permitted");
        expect(own.slice(1)).toContain("Seccomp:\t2");
        await expect.poll(() => read("program").trim().split("\n")).toEqual(own.slice(1));
        await ok(["delete", "--force", args.at(-1)!]);
      }
    });

    test("init serves, ends and reports a hook whatever the profile forbids", async () => {
      // Everything that it does around the hook.
      const forbidden = ["pipe2", "clone", "wait4", "kill", "pidfd_open", "ppoll", "poll", "umask", "rt_sigaction", "clock_gettime"];
      const outcome = async (verb: "start" | "run", hook: Hook) => {
        const name = id();
        const path = withHooks({ startContainer: [hook] }, (config) => {
          filter(config, "ERRNO", forbidden);
          config.process.args = ["/bin/true"];
        });
        if (verb === "start") await ok(["create", "-b", path, name]);
        const { status, stderr } = await runtime(verb === "start" ? ["start", name] : ["run", "-b", path, name]);
        return `${status} ${stderr.trim()}`;
      };
      for (const verb of ["start", "run"] as const) {
        expect(await outcome(verb, script("echo out; echo err >&2; exit 7"))).toContain(
          "error running startContainer hook #0: exit status 7, stdout: out, stderr: err",
        );
        expect(await outcome(verb, { path: "/bin/sleep", args: ["sleep", "60"], timeout: 1 })).toContain(
          "error running startContainer hook #0: hook ran past specified timeout of 1.0s",
        );
        expect(await outcome(verb, { path: "/bin/true" })).toBe("0 ");
      }
    });

    test.each([
      ["ERRNO", "error running startContainer hook #0: exec /bin/true: operation not permitted"],
      ["KILL_PROCESS", "error running startContainer hook #0: signal: bad system call, "],
    ])("a profile that refuses execve by %s fails start, and nothing is left", async (action, words) => {
      const name = id();
      const path = withHooks({ startContainer: [{ path: "/bin/true" }] }, (config) => filter(config, action, ["execve"]));
      await ok(["create", "-b", path, name]);
      const { status, stderr } = await runtime(["start", name]);
      expect(status).toBe(1);
      expect(stderr).toContain(words);
      expect((await runtime(["state", name])).stderr).toContain("does not exist");
    });
  });
});
