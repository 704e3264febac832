import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import type { Change } from "../context.ts";
import { group } from "../group.ts";
import { HookLog, namespacesOf, printNamespaces, script } from "../hook-log.ts";
import { parseStatus } from "../observe.ts";

export const startContainer = group("HK4", "startContainer", ({ must, should, may }) => {
  must(1, "startContainer hooks run in start, in the container's root, before the program", async (c) => {
    const log = new HookLog(c);
    const container = await log.create({
      startContainer: [log.note("startContainer", `sleep 0.05; ls -d /probe; ls -d ${log.directory}`)],
    });
    assert.deepEqual(log.order(), []);
    await container.start();
    await log.programRuns();
    assert.deepEqual(log.order(), ["startContainer", "program"]);
    const [inside, outside = ""] = log.lines("startContainer.out");
    assert.equal(inside, "/probe");
    assert.match(outside, /No such file/);
  });
  must(2, "startContainer hooks are found and run in the container", async (c) => {
    const log = new HookLog(c);
    // A link that leads to a shell only where it is followed inside.
    symlinkSync("/bin/ash", join(log.directory, "inside"));
    const hook = { ...log.note("startContainer", printNamespaces("self")), path: "/tmp/inside" };
    const container = await log.create({ startContainer: [hook] });
    await container.start();
    await log.programRuns();
    assert.deepEqual(log.lines("startContainer.out"), namespacesOf(await container.pid()));
  });
  should(
    3,
    "startContainer hooks get the state of a created container",
    async (c) => {
      const log = new HookLog(c);
      await (await log.create({ startContainer: [log.note("startContainer")] })).start();
      await log.programRuns();
      assert.equal(log.state("startContainer").status, "created");
    },
    { note: "created: the program does not run yet" },
  );
  must(
    4,
    "a failing startContainer hook: start fails, the program never runs, the container is destroyed, poststop hooks run",
    async (c) => {
      const log = new HookLog(c);
      const hooks = { startContainer: [log.fail("startContainer")], poststop: [log.note("poststop")] };
      const { container } = await log.failing("startContainer", hooks);
      await c.nothingOf(container);
      assert.deepEqual(log.order(), ["startContainer", "poststop"]);
    },
  );
  should(
    5,
    "startContainer hooks have the user, the capabilities and the seccomp filter of the program",
    async (c) => {
      const log = new HookLog(c);
      const look = "grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs):' /proc/self/status; mkdir /tmp/by-hook && echo made";
      const container = await log.create({ startContainer: [log.note("startContainer", look)] }, (config) => {
        config.process.user = { uid: 1000, gid: 1000 };
        config.process.capabilities = { bounding: ["CAP_KILL"], effective: [], permitted: [] };
        config.process.args = ["/bin/sh", "-c", "mkdir /tmp/by-program; echo program >> /tmp/order; exec sleep 60"];
        const names = ["mkdir", "mkdirat"];
        config.linux["seccomp"] = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names, action: "SCMP_ACT_ERRNO", errnoRet: 95 }] };
      });
      await container.start();
      await log.programRuns();
      const hook = parseStatus(log.read("startContainer.out"));
      const own = await container.status();
      for (const field of ["Uid", "CapEff", "CapBnd", "NoNewPrivs"]) assert.equal(hook.get(field), own.get(field), field);
      assert.equal(own.get("Seccomp"), "2");
      assert.ok(!existsSync(join(log.directory, "by-program")), "the filter does not hold");
      assert.ok(!existsSync(join(log.directory, "by-hook")), log.read("startContainer.out"));
    },
    { note: "they may be programs of the image: a filter that holds for one of its programs holds for all" },
  );
  may(
    6,
    "a startContainer hook without env has the environment of the program, HOME too",
    async (c) => {
      const log = new HookLog(c);
      const change: Change = (config) => {
        config.process.env = ["PATH=/bin", "ONE=two"];
      };
      await log.life({ startContainer: [log.probe("startContainer")] }, change, { env: { FROM_CALLER: "yes" } });
      const environment = log.words("startContainer", "environ") ?? [];
      assert.deepEqual(environment.filter((entry) => !entry.startsWith("HOME=")).sort(), ["ONE=two", "PATH=/bin"]);
      assert.ok(
        environment.some((entry) => /^HOME=\/./.test(entry)),
        "HOME is missing",
      );
    },
    { note: "a requirement in the test suites of runc and youki" },
  );
});

export const poststart = group("HK5", "poststart", ({ must }) => {
  must(1, "poststart hooks run in start, when the program runs, and have ended when start returns", async (c) => {
    const log = new HookLog(c);
    const container = await log.create({
      poststart: [log.note("poststart", "tr '\\0' ' ' < /proc/$pid/cmdline; echo; sleep 0.05; touch $log/end")],
    });
    assert.deepEqual(log.order(), []);
    await container.start();
    assert.deepEqual(log.hookOrder(), ["poststart"]);
    assert.match(log.read("poststart.out"), /^\/bin\/sh -c echo program/);
    readFileSync(join(log.directory, "end"));
  });
  must(2, "poststart hooks run in the runtime's namespaces and get the state of a running container", async (c) => {
    const log = new HookLog(c);
    await (await log.create({ poststart: [log.note("poststart", printNamespaces("self"))] })).start();
    assert.deepEqual(log.lines("poststart.out"), namespacesOf("self"));
    assert.equal(log.state("poststart").status, "running");
  });
  must(3, "a failing poststart hook: start fails, the container is stopped and destroyed, poststop hooks run", async (c) => {
    const log = new HookLog(c);
    const hooks = { poststart: [log.fail("poststart")], poststop: [log.note("poststop")] };
    const { container } = await log.failing("poststart", hooks);
    await c.nothingOf(container);
    assert.deepEqual(log.hookOrder(), ["poststart", "poststop"]);
  });
});

export const poststop = group("HK6", "poststop", ({ must }) => {
  must(1, "poststop hooks run in delete, after everything is removed, and have ended when delete returns", async (c) => {
    const log = new HookLog(c);
    const find = `for each in /sys/fs/cgroup${c.cgroup}/*/ /sys/fs/cgroup/*${c.cgroup}/*/; do [ ! -d "$each" ] || echo "$each"; done; tr -d '\\0' < /proc/$old/cmdline 2>/dev/null; sleep 0.05; touch $log/end`;
    const container = await log.create({
      poststart: [log.note("poststart", 'echo "$pid" > $log/pid')],
      poststop: [log.note("poststop", `old=$(cat $log/pid); ${find}`)],
    });
    await container.start();
    await container.end();
    assert.ok(!log.order().includes("poststop"), "poststop hooks ran before delete");
    await container.delete();
    assert.equal(log.read("poststop.out"), "");
    readFileSync(join(log.directory, "end"));
  });
  must(2, "poststop hooks run in the runtime's namespaces and get the state of a stopped container", async (c) => {
    const log = new HookLog(c);
    await log.life({ poststop: [log.note("poststop", printNamespaces("self"))] });
    assert.deepEqual(log.lines("poststop.out"), namespacesOf("self"));
    const { status, pid } = log.state("poststop");
    assert.equal(status, "stopped");
    assert.ok(pid === undefined || pid === 0, `pid ${pid}`);
  });
  must(3, "a failing poststop hook is warned about, the others run, and delete succeeds", async (c) => {
    const log = new HookLog(c);
    const container = await log.create({ poststop: [script("exit 1"), log.note("poststop")] });
    const result = await container.call(["delete", "--force", container.id]);
    assert.equal(result.status, 0, result.stderr);
    assert.notEqual(result.stderr, "", "no warning");
    assert.deepEqual(log.order(), ["poststop"]);
    await c.nothingOf(container);
  });
  must(4, "poststop hooks also run if a hook has made create or start fail", async (c) => {
    for (const kind of ["prestart", "startContainer"] as const) {
      const log = new HookLog(c);
      await log.failing(kind, { [kind]: [log.fail(kind)], poststop: [log.note("poststop")] });
      assert.deepEqual(log.order(), [kind, "poststop"]);
      assert.equal(log.state("poststop").status, "stopped");
    }
  });
});
