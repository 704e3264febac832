/** The six hooks: order, place, state on stdin, environment. Checklist: HKC, HK1 to HK6. */
import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CGROUPS, hasControllers, isUnified } from "../support/cgroups.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { type Hooks, KINDS, script, useHooks } from "../support/hooks.ts";

describe.skipIf(!isRoot || !isRunt)("hooks (needs root)", () => {
  const harness = useHarness();
  const { id, ok, root, rootfs, runtime, until } = harness;
  const { all, log, note, order, read, state, withHooks } = useHooks(harness);

  test("each at its time, in order, with the state of that moment", async () => {
    const name = id();
    const path = withHooks(all(), (config) => {
      config.annotations = { "org.example.key": "value" };
      shell(config, "echo program >> /log/order; exec sleep 60");
    });
    await ok(["create", "-b", path, name]);
    expect(order()).toEqual(["prestart", "createRuntime", "createContainer"]);
    const { pid } = JSON.parse(await ok(["state", name]));
    await ok(["start", name]);
    // The program runs by itself from here on.
    await expect.poll(order).toContain("program");
    expect(order().slice(3).sort()).toEqual(["poststart", "program", "startContainer"].sort());
    expect(order()[3]).toBe("startContainer");
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    await ok(["delete", name]);
    expect(order().at(-1)).toBe("poststop");
    const common = { ociVersion: "1.2.0", id: name, bundle: path, annotations: { "org.example.key": "value" } };
    expect(state("prestart")).toEqual({ ...common, ociVersion: expect.any(String), status: "creating", pid });
    expect(state("createRuntime")).toEqual(state("prestart"));
    expect(state("createContainer")).toEqual({ ...state("prestart"), pid: 1 });
    expect(state("startContainer")).toEqual({ ...state("prestart"), status: "created", pid: 1 });
    expect(state("poststart")).toEqual({ ...state("prestart"), status: "running" });
    expect(state("poststop")).toEqual({ ...state("prestart"), status: "stopped", pid: 0 });
  });

  test("run has them all, in the foreground too", async () => {
    const path = withHooks(all(), (config) => shell(config, "echo program >> /log/order; sleep 0.3"));
    expect(await runtime(["run", "-b", path, id()])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(order().filter((line) => line !== "program")).toEqual([...KINDS]);
    const detached = id();
    writeFileSync(join(log(), "order"), "");
    await ok(["run", "-d", "-b", path, detached]);
    await until(detached, "stopped");
    expect(order().filter((line) => line !== "program")).toEqual(KINDS.slice(0, 5));
    await ok(["delete", detached]);
    expect(order().at(-1)).toBe("poststop");
  });

  test("several of one kind run one after the other", async () => {
    const one = script(`sleep 0.2; echo 1 >> ${log()}/order`);
    const two = script(`echo 2 >> ${log()}/order`);
    await ok([
      "create",
      "-b",
      withHooks({
        createRuntime: [one, two],
        createContainer: [script(`sleep 0.1; echo 3 >> ${log()}/order`), script(`echo 4 >> ${log()}/order`)],
      }),
      id(),
    ]);
    expect(order()).toEqual(["1", "2", "3", "4"]);
  });

  test("namespaces and working directories", async () => {
    const place = "for type in mnt uts pid; do readlink /proc/self/ns/$type; done; pwd; ls -d /etc/debian_version /log";
    const name = id();
    const path = withHooks(all(place));
    await ok(["create", "-b", path, name]);
    await ok(["start", name]);
    const [mount, uts, pid] = ["mnt", "uts", "pid"].map((type) => readlinkSync(`/proc/self/ns/${type}`));
    for (const kind of ["prestart", "createRuntime", "poststart"] as const) {
      expect(read(`${kind}.out`).split("\n").slice(0, 4), kind).toEqual([mount, uts, pid, path]);
    }
    const inside = read("createContainer.out").split("\n");
    expect(inside[0]).not.toBe(mount);
    expect(inside[1]).not.toBe(uts);
    expect(inside[3]).toBe(rootfs());
    expect(inside).toContain("/etc/debian_version");
    const container = read("startContainer.out").split("\n");
    expect(container.slice(0, 3)).toEqual(inside.slice(0, 3));
    expect(container[3]).toBe("/");
    expect(container).toContain("/log");
    expect(container).not.toContain("/etc/debian_version");
  });

  test.skipIf(!hasControllers)(
    "before the pivot the mounts are there, the cgroup with its limits too, and state says creating",
    async () => {
      const name = id();
      const text = [
        `pid=$(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' ${log()}/createRuntime)`,
        `grep -c " ${rootfs()}/proc .* - proc " /proc/$pid/mountinfo`,
        "cat /proc/$pid/cgroup",
        `cat ${isUnified ? CGROUPS : `${CGROUPS}/pids`}$(sed -n 's/^[0-9]*:${isUnified ? "" : "pids"}://p' /proc/$pid/cgroup)/pids.max`,
        `${RUNTIME} --root ${root} state ${name} | grep status`,
      ].join("; ");
      const path = withHooks({ createRuntime: [note("createRuntime", text)] }, (config) => {
        config.linux.resources = { ...config.linux.resources, pids: { limit: 77 } };
      });
      await ok(["create", "-b", path, name]);
      const lines = read("createRuntime.out").split("\n");
      expect(lines[0]).toBe("1");
      expect(lines).toContain("77");
      expect(lines.join()).toContain('"status": "creating"');
    },
  );

  test("the environment: the hook's own, else the caller's, inside the process's", async () => {
    const env = { RUNT_TEST: "caller" };
    const print = 'echo "$RUNT_TEST|$HOME|$INSIDE"';
    const path = withHooks(
      {
        prestart: [{ ...note("prestart", "env | sort"), env: ["ONLY=this", "PATH=/usr/bin:/bin"] }],
        createRuntime: [note("createRuntime", print)],
        createContainer: [note("createContainer", print)],
        startContainer: [note("startContainer", print)],
        poststart: [note("poststart", print)],
      },
      (config) => {
        config.process.env = ["PATH=/bin", "INSIDE=yes"];
        shell(config, "exec sleep 60");
      },
    );
    const name = id();
    await ok(["create", "-b", path, name], { env });
    await ok(["start", name], { env: { RUNT_TEST: "starter" } });
    expect(
      read("prestart.out")
        .split("\n")
        .filter((line) => !/^(PWD|_|SHLVL|OLDPWD)=/.test(line)),
    ).toEqual(["ONLY=this", "PATH=/usr/bin:/bin", ""]);
    const home = process.env.HOME ?? "";
    expect(read("createRuntime.out")).toBe(`caller|${home}|\n`);
    expect(read("createContainer.out")).toBe(`caller|${home}|\n`);
    expect(read("poststart.out")).toBe(`starter|${home}|\n`);
    expect(read("startContainer.out")).toMatch(/^\|\/[a-z]*\|yes\n$/);
  });

  test("argv is given word for word; without args it is the path", async () => {
    const path = withHooks({
      createRuntime: [{ path: "/bin/busybox", args: ["sh", "-c", `printf '%s,' "$0" "$@" > ${log()}/args`, "a b", "", "c"] }],
      createContainer: [{ path: "/bin/true" }],
    });
    await ok(["create", "-b", path, id()]);
    expect(read("args")).toBe("a b,,c,");
  });

  test("hooks inside and out have stdin, stdout and stderr, and nothing else", async () => {
    const list = "ls -l /proc/self/fd | grep -v '/proc/' | sed -n 's/.* \\([0-9]* -> .*\\)/\\1/p'";
    const name = id();
    const extra = { extra: [1, 1] } as const;
    const path = withHooks(all(list));
    await ok(["create", "--preserve-fds", "2", "-b", path, name], extra);
    await ok(["start", name]);
    for (const kind of KINDS.slice(0, 5)) {
      const numbers = read(`${kind}.out`)
        .split("\n")
        .filter((line) => line.includes("->"))
        .map((line) => Number(line.split(" ")[0]));
      expect(numbers, kind).toEqual([0, 1, 2]);
    }
  });

  test("what was created keeps its hooks, whatever becomes of config.json", async () => {
    const name = id();
    const path = withHooks({ poststart: [note("poststart")], poststop: [note("poststop")] });
    await ok(["create", "-b", path, name]);
    writeFileSync(join(path, "config.json"), "{}");
    await ok(["start", name]);
    await ok(["delete", "--force", name]);
    expect(order().filter((line) => line !== "program")).toEqual(["poststart", "poststop"]);
  });

  test("a poststart hook may use any verb on the container", async () => {
    const name = id();
    const call = `${RUNTIME} --root ${root}`;
    const verbs = `${call} state ${name} | grep status; ${call} kill ${name} 0; ${call} delete ${name}; ${call} list -q`;
    await ok(["create", "-b", withHooks({ poststart: [note("poststart", verbs)] }), name]);
    await ok(["start", name]);
    expect(read("poststart.out")).toContain('"status": "running"');
    expect(read("poststart.out")).toContain("cannot delete container");
  });

  test.each<[string, Hooks, string]>([
    ["a relative path", { poststop: [{ path: "bin/true" }] }, 'hooks.poststop[0]: "bin/true" is not an absolute path'],
    ["a timeout of zero", { prestart: [{ path: "/bin/true", timeout: 0 }] }, "hooks.prestart[0]: timeout 0 is not greater than zero"],
    [
      "a negative timeout",
      { startContainer: [{ path: "/bin/true", timeout: -1 }] },
      "hooks.startContainer[0]: timeout -1 is not greater than zero",
    ],
  ])("%s is refused before anything is done", async (_, hooks, words) => {
    const result = await runtime(["create", "-b", withHooks(hooks), id()]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(words);
  });

  test("the plan of run shows them all but poststop", async () => {
    const plan = await ok(["run", "--dry-run", "-b", withHooks(all()), id()]);
    const hooks = plan.split("\n").flatMap((line) => /hook\.run +(\w+) 0:/.exec(line)?.[1] ?? []);
    expect(hooks).toEqual(["prestart", "createRuntime", "createContainer", "startContainer", "poststart"]);
    expect(readdirSync(log())).toEqual([]);
  });
});
