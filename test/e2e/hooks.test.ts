/** The six hooks: order, place, state on stdin, environment, time-outs, and what a failure leaves behind. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CGROUPS, hasControllers, isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

const KINDS = ["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"] as const;
type Kind = (typeof KINDS)[number];
interface Hook {
  path: string;
  args?: string[];
  env?: string[];
  timeout?: number;
}
type Hooks = Partial<Record<Kind, Hook[]>>;

const script = (text: string, more: Partial<Hook> = {}): Hook => ({ path: "/bin/sh", args: ["sh", "-c", text], ...more });

/** HKC, HK1 to HK6 of the specification's checklist. */
describe.skipIf(!isRoot || !isRunt)("hooks (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until, rootfs } = useHarness();
  let log: string;
  let count = 0;
  beforeEach(() => {
    log = join(directory, `log-${++count}`);
    mkdirSync(log);
    chmodSync(log, 0o777);
  });
  afterEach(() => rmSync(log, { recursive: true, force: true }));

  const read = (name: string) => (existsSync(join(log, name)) ? readFileSync(join(log, name), "utf8") : "");
  const order = () => read("order").trim().split("\n");
  /** Hooks see the log directory at its own path, the container (and startContainer) at /log. */
  const note = (kind: Kind, text = ":") => {
    const place = kind === "startContainer" ? "/log" : log;
    return script(`cat > ${place}/${kind}; echo ${kind} >> ${place}/order; { ${text}; } > ${place}/${kind}.out 2>&1; true`);
  };
  const withHooks = (
    hooks: Hooks,
    change: (config: Config) => void = (config) => shell(config, "echo program >> /log/order; exec sleep 60"),
  ) =>
    bundle((config) => {
      config.mounts.push({ destination: "/log", type: "bind", source: log, options: ["rbind"] });
      change(config);
      config.hooks = hooks;
    });
  const all = (text?: string): Hooks => Object.fromEntries(KINDS.map((kind) => [kind, [note(kind, text)]]));
  const state = (kind: Kind) => JSON.parse(read(kind));

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
    writeFileSync(join(log, "order"), "");
    await ok(["run", "-d", "-b", path, detached]);
    await until(detached, "stopped");
    expect(order().filter((line) => line !== "program")).toEqual(KINDS.slice(0, 5));
    await ok(["delete", detached]);
    expect(order().at(-1)).toBe("poststop");
  });

  test("several of one kind run one after the other", async () => {
    const one = script(`sleep 0.2; echo 1 >> ${log}/order`);
    const two = script(`echo 2 >> ${log}/order`);
    await ok([
      "create",
      "-b",
      withHooks({
        createRuntime: [one, two],
        createContainer: [script(`sleep 0.1; echo 3 >> ${log}/order`), script(`echo 4 >> ${log}/order`)],
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
        `pid=$(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' ${log}/createRuntime)`,
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
      createRuntime: [{ path: "/bin/busybox", args: ["sh", "-c", `printf '%s,' "$0" "$@" > ${log}/args`, "a b", "", "c"] }],
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

  test.each(KINDS.slice(0, 5))("a failing %s hook: error, nothing left, program not started or stopped, poststop run", async (kind) => {
    const name = id();
    const marker = kind === "startContainer" ? "/log" : log;
    const fail = script(`echo some output; echo some error >&2; echo ${kind} >> ${marker}/order; exit 3`);
    const never = script(`echo never >> ${marker}/order`);
    const path = withHooks({ [kind]: [script("true"), fail, never], poststop: [note("poststop")] });
    const created = await runtime(["create", "-b", path, name]);
    const result = kind === "startContainer" || kind === "poststart" ? await runtime(["start", name]) : created;
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(`error running ${kind} hook #1: exit status 3, stdout: some output, stderr: some error`);
    expect((await runtime(["state", name])).stderr).toContain("does not exist");
    expect(order().filter((line) => line !== "program")).toEqual([kind, "poststop"]);
    if (kind !== "poststart") expect(order()).not.toContain("program");
    expect(state("poststop").status).toBe("stopped");
  });

  test.each(KINDS.slice(0, 5))("run fails with a failing %s hook", async (kind) => {
    const name = id();
    const path = withHooks({ [kind]: [script("exit 4")], poststop: [note("poststop")] });
    const result = await runtime(["run", "-b", path, name]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(`error running ${kind} hook #0: exit status 4, stdout: , stderr: `);
    expect((await runtime(["state", name])).stderr).toContain("does not exist");
    expect(order().filter((line) => line !== "program")).toEqual(["poststop"]);
  });

  test.each([
    ["9", "signal: killed"],
    ["11", "signal: segmentation fault"],
    ["31", "signal: bad system call"],
  ])("a createRuntime hook that signal %s ends is named by it", async (number, words) => {
    const result = await runtime(["run", "-b", withHooks({ createRuntime: [script(`kill -${number} $$`)] }), id()]);
    expect(result.stderr).toContain(`error running createRuntime hook #0: ${words}, stdout: , stderr: `);
  });

  test("poststop hooks all run after everything is removed; a failure is told, and delete succeeds", async () => {
    const name = id();
    const look = note("poststop", `ls -d ${join(root, name)}; ls -d ${CGROUPS}/*${CGROUP_PARENT} ${CGROUPS}${CGROUP_PARENT}`);
    const path = withHooks({ poststop: [script("echo out; echo err >&2; exit 5"), look] });
    await ok(["create", "-b", path, name]);
    const result = await runtime(["delete", name]);
    expect(result.status).toBe(0);
    expect(result.stdout).toBe("");
    expect(result.stderr).toBe("runt: warning: error running poststop hook #0: exit status 5, stdout: out, stderr: err\n");
    expect(read("poststop.out")).toMatch(/^(ls: .*(No such file|cannot access).*\n)+$/);
  });

  test.each(["createRuntime", "createContainer", "startContainer", "poststart"] as const)(
    "a %s hook that takes too long is killed",
    async (kind) => {
      const name = id();
      const path = withHooks({ [kind]: [script("exec sleep 60", { timeout: 1 })] });
      const begin = Date.now();
      const created = await runtime(["create", "-b", path, name]);
      const result = kind === "startContainer" || kind === "poststart" ? await runtime(["start", name]) : created;
      expect(result.status).toBe(1);
      expect(result.stderr).toContain(`error running ${kind} hook #0: hook ran past specified timeout of 1.0s`);
      expect(Date.now() - begin).toBeGreaterThanOrEqual(990);
      expect(Date.now() - begin).toBeLessThan(50_000);
    },
  );

  test("hooks that read nothing of a long state, write much, or leave a process behind harm nobody", async () => {
    const name = id();
    const idle = { path: "/bin/true" };
    const chatty = script("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2");
    const path = withHooks(
      {
        prestart: [idle, chatty],
        createContainer: [idle, chatty],
        startContainer: [idle, chatty],
        poststart: [idle, chatty],
        poststop: [idle, script(`sleep 60 & echo $! > ${log}/left`)],
      },
      (config) => {
        config.annotations = { long: "x".repeat(300_000) };
        shell(config, "exec sleep 60");
      },
    );
    await ok(["create", "-b", path, name]);
    await ok(["start", name]);
    await ok(["delete", "--force", name]);
    // It was not waited for.
    process.kill(Number(read("left")), "SIGKILL");
  });

  test("a hook that reads all of a long state gets it whole", async () => {
    const name = id();
    const path = withHooks(all(), (config) => {
      config.annotations = { long: "y".repeat(300_000) };
      shell(config, "exec sleep 60");
    });
    await ok(["create", "-b", path, name]);
    await ok(["start", name]);
    for (const kind of KINDS.slice(0, 5)) expect(state(kind as Kind).annotations.long.length, kind).toBe(300_000);
  });

  test("output in the message is bounded", async () => {
    for (const kind of ["createRuntime", "createContainer"] as const) {
      const path = withHooks({
        [kind]: [script("head -c 100000 /dev/zero | tr '\\0' o; head -c 100000 /dev/zero | tr '\\0' e >&2; exit 1")],
      });
      const { stderr } = await runtime(["create", "-b", path, id()]);
      expect(stderr).toContain(`stdout: ${"o".repeat(4096)}, stderr: ${"e".repeat(4096)}`);
    }
  });

  test("a hook that is not there", async () => {
    for (const kind of ["createRuntime", "createContainer", "startContainer"] as const) {
      const name = id();
      const path = withHooks({ [kind]: [{ path: "/no/such/hook" }] });
      const result = await runtime(["run", "-b", path, name]);
      expect(result.status).toBe(1);
      expect(result.stderr).toContain(`error running ${kind} hook #0: exec /no/such/hook: no such file or directory`);
    }
  });

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
        rmSync(join(log, "startContainer.out"), { force: true });
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

  test("SIGKILL to the runtime during a hook leaves what delete --force removes", async () => {
    const name = id();
    const path = withHooks({
      createRuntime: [script(`echo $PPID > ${log}/ppid; touch ${log}/ready; exec sleep 2`)],
      poststop: [note("poststop")],
    });
    const creating = runtime(["create", "-b", path, name]);
    await expect.poll(() => existsSync(join(log, "ready")), { interval: 10 }).toBe(true);
    process.kill(Number(read("ppid")), "SIGKILL");
    expect((await creating).status).toBe(137);
    await ok(["delete", "--force", name]);
    expect(order()).toEqual(["poststop"]);
    await sleep(2_000);
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
    expect(readdirSync(log)).toEqual([]);
  });
});
