import * as assert from "../assert.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { HookLog, type Kind, namespacesOf, printNamespaces } from "../hook-log.ts";

/** A create that fails by this hook: no state, nothing left, the program not run. */
async function failsCreate(c: Context, kind: Kind): Promise<HookLog> {
  const log = new HookLog(c);
  const { container } = await log.failing(kind, { [kind]: [log.fail(kind)], poststop: [log.note("poststop")] });
  await c.nothingOf(container);
  assert.notEqual((await container.call(["start", container.id])).status, 0, "start succeeded");
  assert.equal(log.order()[0], kind);
  assert.ok(!log.order().includes("program"), "the program has run");
  return log;
}

/** What a hook of this kind printed while the container was being created. */
async function seenBy(
  c: Context,
  kind: Kind,
  text: string,
): Promise<{ readonly log: HookLog; readonly lines: readonly string[]; readonly pid: number }> {
  const log = new HookLog(c);
  const container = await log.create({ [kind]: [log.note(kind, text)] });
  return { log, lines: log.lines(`${kind}.out`), pid: await container.pid() };
}

/** Hooks of the runtime's namespaces: those of the caller, with the caller's files. */
async function runsOutside(c: Context, kind: Kind): Promise<void> {
  const { lines } = await seenBy(c, kind, printNamespaces("self"));
  assert.deepEqual(lines, namespacesOf("self"));
}

export const prestart = group("HK1", "prestart (deprecated)", ({ must, should }) => {
  must(1, "prestart hooks run in create, first of all, when the namespaces are made and the root is not yet changed", async (c) => {
    const log = new HookLog(c);
    const look = `${printNamespaces("$pid")}; test -e /proc/$pid/root$log/order && echo the-host-root`;
    const container = await log.create({ createRuntime: [log.note("createRuntime")], prestart: [log.note("prestart", look)] });
    assert.deepEqual(log.order(), ["prestart", "createRuntime"]);
    assert.deepEqual(log.lines("prestart.out"), [...namespacesOf(await container.pid()), "the-host-root"]);
    await container.start();
    assert.deepEqual(log.hookOrder(), ["prestart", "createRuntime"]);
  });
  must(2, "prestart hooks are found and run in the runtime's namespaces", (c) => runsOutside(c, "prestart"));
  should(
    3,
    "prestart hooks get the state of a container in creation with a live process",
    async (c) => {
      const { log, lines, pid } = await seenBy(c, "prestart", 'kill -0 "$pid" && echo alive');
      const { status, pid: told } = log.state("prestart");
      assert.ok(c.isRunt ? status === "creating" : ["creating", "created"].includes(status), status);
      assert.equal(told, pid);
      assert.deepEqual(lines, ["alive"]);
    },
    { note: "creating: create has not finished" },
  );
  must(4, "a failing prestart hook: create fails, the program never runs, the container is unknown", async (c) => {
    await failsCreate(c, "prestart");
  });
});

export const createRuntime = group("HK2", "createRuntime", ({ must }) => {
  must(1, "createRuntime hooks run in create, after prestart, before createContainer and before the root is changed", async (c) => {
    const log = new HookLog(c);
    await log.create({
      createContainer: [log.note("createContainer")],
      createRuntime: [log.note("createRuntime", "test -e /proc/$pid/root$log/order && echo the-host-root")],
      prestart: [log.note("prestart")],
    });
    assert.deepEqual(log.order(), ["prestart", "createRuntime", "createContainer"]);
    assert.deepEqual(log.lines("createRuntime.out"), ["the-host-root"]);
  });
  must(2, "createRuntime hooks are found and run in the runtime's namespaces", (c) => runsOutside(c, "createRuntime"));
  must(3, "the mounts are made when createRuntime hooks run", async (c) => {
    const count = `grep -c " ${c.sharedRootfs}/proc .* - proc " /proc/$pid/mountinfo; readlink /proc/$pid/ns/mnt`;
    const { lines } = await seenBy(c, "createRuntime", count);
    assert.equal(lines[0], "1", "/proc is not mounted in the mount namespace of the container");
    assert.notEqual(lines[1], namespacesOf("self")[2]);
  });
  must(4, "a failing createRuntime hook: create fails, the program never runs, the container is unknown", async (c) => {
    await failsCreate(c, "createRuntime");
  });
});

export const createContainer = group("HK3", "createContainer", ({ must }) => {
  must(1, "createContainer hooks run in create, after createRuntime, before the root is changed", async (c) => {
    const log = new HookLog(c);
    const look = `readlink /proc/self/root; grep -c " ${c.sharedRootfs}/proc .* - proc " /proc/self/mountinfo`;
    await log.create({ createContainer: [log.note("createContainer", look)], createRuntime: [log.note("createRuntime")] });
    assert.deepEqual(log.order(), ["createRuntime", "createContainer"]);
    assert.deepEqual(log.lines("createContainer.out"), ["/", "1"]);
  });
  must(2, "createContainer hooks are found where the runtime is and run in the container's namespaces", async (c) => {
    const { lines, pid } = await seenBy(c, "createContainer", printNamespaces("self"));
    assert.deepEqual(lines, namespacesOf(pid));
    for (const [index, link] of namespacesOf("self").entries()) assert.notEqual(lines[index], link);
  });
  must(3, "a failing createContainer hook: create fails, the container is destroyed, poststop hooks run", async (c) => {
    assert.deepEqual((await failsCreate(c, "createContainer")).order(), ["createContainer", "poststop"]);
  });
});
