import { existsSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import { type Container, waitFor } from "../container.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { DECISIVE, type Hook, HookLog, KINDS, type Kind, SEMVER, script, together } from "../hook-log.ts";

/** More than a pipe takes, so that a hook which does not read is noticed. */
const LONG = "x".repeat(100_000);

/** A configuration whose only hook is broken must be refused, whichever kind the hook is of. */
async function refusesHook(c: Context, hook: object, field: string): Promise<void> {
  for (const kind of KINDS)
    await c.refused(
      (config) => {
        config.hooks = { [kind]: [hook] };
      },
      new RegExp(`^/hooks/${kind}/0${field}$`),
    );
}

/** One hook of each kind that fails like this, in a container of its own: what the verb says. */
async function failures(c: Context, text: string, more: Partial<Hook> = {}): Promise<Record<string, string>> {
  const ends = DECISIVE.map(async (kind) => {
    const { result } = await new HookLog(c).failing(kind, { [kind]: [script(text, more)] });
    return [kind, result.stderr] as const;
  });
  return Object.fromEntries(await together(ends));
}

export const hookRules = group("HKC", "hooks: common rules", ({ must, should }) => {
  must(1, "a hook without an absolute path is refused before anything is done", async (c) => {
    await refusesHook(c, { path: "bin/true" }, "/path");
    await refusesHook(c, { path: "" }, "/path");
    await refusesHook(c, { args: ["true"] }, "(/path)?");
  });
  must(2, "args is the argument vector from its first word on; without args it is the path alone", async (c) => {
    const given = new HookLog(c);
    const args = (kind: Kind) => [`zero of ${kind}`, "a b", "", "$HOME"];
    await given.life(Object.fromEntries(KINDS.map((kind) => [kind, [given.probe(kind, { args: args(kind) })]])));
    const bare = new HookLog(c);
    await bare.life(Object.fromEntries(KINDS.map((kind) => [kind, [bare.probe(kind)]])));
    for (const kind of KINDS) {
      assert.deepEqual(given.words(kind, "cmdline"), args(kind), kind);
      assert.deepEqual(bare.words(kind, "cmdline"), [join(bare.place(kind), `${kind}-probe`)], kind);
    }
  });
  must(
    3,
    "env is the whole environment of a hook, also when it is empty",
    async (c) => {
      const caller = { env: { FROM_CALLER: "yes" } };
      const given = new HookLog(c);
      await given.life(
        Object.fromEntries(KINDS.map((kind) => [kind, [given.probe(kind, { env: ["A=1", `KIND=${kind}`] })]])),
        undefined,
        caller,
      );
      const empty = new HookLog(c);
      await empty.life(Object.fromEntries(KINDS.map((kind) => [kind, [empty.probe(kind, { env: [] })]])), undefined, caller);
      const absent = new HookLog(c);
      await absent.life({ createRuntime: [absent.probe("createRuntime")], poststart: [absent.probe("poststart")] }, undefined, caller);
      for (const kind of KINDS) {
        assert.deepEqual(given.words(kind, "environ"), ["A=1", `KIND=${kind}`], kind);
        assert.deepEqual(empty.words(kind, "environ"), [], kind);
      }
      for (const kind of ["createRuntime", "poststart"] as const)
        assert.ok(absent.words(kind, "environ")?.includes("FROM_CALLER=yes"), `${kind} without env has not the caller's`);
    },
    { note: "without env a hook has the caller's environment, as hooks in use expect" },
  );
  must(4, "a timeout of zero or below is refused", async (c) => {
    await refusesHook(c, { path: "/bin/true", timeout: 0 }, "/timeout");
    await refusesHook(c, { path: "/bin/true", timeout: -1 }, "/timeout");
  });
  must(5, "a hook that runs longer than its timeout is ended, and has failed", async (c) => {
    const hang = (log: HookLog, kind: Kind) => script(`echo hung > ${log.place(kind)}/hung; exec sleep 60`, { timeout: 1 });
    const ended = async (kind: Kind, log: HookLog, verb: () => Promise<Container>) => {
      const began = Date.now();
      const container = await verb();
      const took = Date.now() - began;
      assert.equal(log.read("hung"), "hung\n", `${kind} has not run`);
      assert.ok(took >= 990 && took < 50_000, `${kind} ended after ${took} ms`);
      return container;
    };
    const last = new HookLog(c);
    const container = await last.create({ poststop: [hang(last, "poststop")] });
    const decisive = DECISIVE.map((kind) => {
      const log = new HookLog(c);
      return ended(kind, log, async () => (await log.failing(kind, { [kind]: [hang(log, kind)] })).container);
    });
    const deleted = ended("poststop", last, async () => {
      await container.delete("--force");
      return container;
    });
    for (const gone of await together([...decisive, deleted])) await c.nothingOf(gone);
  });
  must(6, "hooks of one kind run one after the other, as listed", async (c) => {
    const log = new HookLog(c);
    const list = (kind: Kind) => [
      script(`sleep 0.05; echo ${kind} 1 >> ${log.place(kind)}/order`),
      script(`sleep 0.02; echo ${kind} 2 >> ${log.place(kind)}/order`),
      script(`echo ${kind} 3 >> ${log.place(kind)}/order`),
    ];
    await log.life(Object.fromEntries(KINDS.map((kind) => [kind, list(kind)])));
    for (const kind of KINDS)
      assert.deepEqual(
        log.order().filter((line) => line.startsWith(kind)),
        [`${kind} 1`, `${kind} 2`, `${kind} 3`],
      );
  });
  must(7, "the state comes as one JSON document on stdin, followed by the end of the file", async (c) => {
    const log = new HookLog(c);
    await log.life(Object.fromEntries(KINDS.map((kind) => [kind, [log.probe(kind)]])), (config) => {
      config.annotations = { long: LONG };
    });
    for (const kind of KINDS) {
      const state = JSON.parse(log.read(`${kind}-probe.stdin`));
      assert.equal(state.annotations?.long, LONG, kind);
    }
  });
  must(8, "the state of every hook has version, id, status, pid, bundle and annotations as the specification describes them", async (c) => {
    const log = new HookLog(c);
    const annotations = { "org.example.one": "1", "org.example.empty": "" };
    const container = await log.life(log.all(), (config) => {
      config.annotations = annotations;
    });
    for (const kind of KINDS) {
      const state = log.state(kind);
      assert.match(state.ociVersion, SEMVER, kind);
      assert.equal(state.id, container.id, kind);
      assert.ok(["creating", "created", "running", "stopped"].includes(state.status), `${kind} has the status "${state.status}"`);
      if (kind !== "poststop") assert.ok(Number.isSafeInteger(state.pid), `${kind} has the pid ${state.pid}`);
      assert.equal(state.bundle, container.bundle, kind);
      assert.deepEqual(state.annotations, annotations, kind);
    }
  });
  must(9, "a hook that does not read a long state does not block anything", async (c) => {
    const idle = { path: "/bin/true" };
    const log = new HookLog(c);
    await log.life(Object.fromEntries(KINDS.map((kind) => [kind, [idle, log.note(kind)]])), (config) => {
      config.annotations = { long: LONG };
    });
    assert.deepEqual(log.hookOrder().sort(), [...KINDS].sort());
  });
  must(10, "pid is the container's process, as numbered in the hook's namespaces", async (c) => {
    for (const own of [true, false]) {
      const log = new HookLog(c);
      const container = await log.create(log.all(), (config) => {
        if (!own) config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
      });
      const pid = await container.pid();
      await container.start();
      await waitFor(() => log.hookOrder().length === 5, "five hooks");
      for (const kind of DECISIVE) {
        const inside = kind === "createContainer" || kind === "startContainer";
        assert.equal(log.state(kind).pid, inside && own ? 1 : pid, `${kind}, ${own ? "own" : "the host's"} pid namespace`);
      }
      await container.delete("--force");
    }
  });
  should(11, "the output of a failing hook is part of the error, up to a limit", async (c) => {
    const told = await failures(c, "echo told-to-stderr >&2; exit 1");
    const flood = "head -c 300000 /dev/zero | tr '\\0' e";
    const flooded = await failures(c, `${flood}; ${flood} >&2; exit 1`);
    for (const kind of DECISIVE) {
      assert.ok(told[kind]?.includes("told-to-stderr"), `${kind}: ${told[kind]}`);
      assert.ok((flooded[kind] ?? "").length < 65_536, `${kind}: ${flooded[kind]?.length} bytes`);
    }
  });
  must(
    12,
    "any other failing hook than poststop: the verb fails, the container is stopped and destroyed, poststop hooks run",
    async (c) => {
      for (const kind of DECISIVE) {
        const log = new HookLog(c);
        const after = { [kind]: [script("true"), log.fail(kind), log.note(kind, "echo > $log/further")] };
        const { container } = await log.failing(kind, { ...after, poststop: [log.note("poststop")] });
        await c.nothingOf(container);
        assert.deepEqual(log.hookOrder(), [kind, "poststop"]);
        assert.ok(!existsSync(join(log.directory, "further")), `a ${kind} hook ran after one had failed`);
        if (kind !== "poststart") assert.ok(!log.order().includes("program"), `the program ran in spite of ${kind}`);
      }
    },
  );
  must(13, "all six kinds run", async (c) => {
    for (const kind of KINDS) {
      const log = new HookLog(c);
      await log.life({ [kind]: [log.note(kind)] });
      assert.deepEqual(log.hookOrder(), [kind]);
    }
  });
});
