/** Verbs that only show something, and a create that is refused, make no system call that changes anything. Seen by strace. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";
import { looksOnly } from "../support/plan-trace.ts";
import { namesOf, parseTrace, stringOf, type TracedCall } from "../support/strace.ts";

const STRACE = "/usr/bin/strace";
const CGROUPS = "/sys/fs/cgroup/";
const NAMESPACES = /CLONE_(NEW|VM|VFORK|CHILD)|setns|unshare/;

describe.skipIf(!isRoot || !isRunt || !existsSync(STRACE))(`traces of dry runs (needs root and ${STRACE})`, () => {
  const { bundle, directory, id, ok, root } = useHarness();
  const names = { path: "", other: "", broken: "", facts: join(directory, "facts.json"), out: join(directory, "out") };

  const staying = (change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, "sleep 60");
      change(config);
    }, "limited");

  /** The calls behind the one that started the runtime. */
  async function traced(args: readonly string[], before: readonly string[] = []) {
    const output = join(directory, `trace-${Math.random().toString(36).slice(2)}`);
    const options = ["-f", "-X", "verbose", "-s", "4096", "-o", output];
    const result = await call(directory, [
      ...before,
      "timeout",
      "-s",
      "KILL",
      String(15 * SLOW),
      STRACE,
      ...options,
      RUNTIME,
      "--root",
      root,
      ...args,
    ]);
    return { ...result, calls: parseTrace(readFileSync(output, "utf8")).slice(1) };
  }

  const isOutput = ({ name, args }: TracedCall) => /^p?writev?(64)?$/.test(name) && /^[12]$/.test(args[0] ?? "");
  /** Where systemd runs, check asks it for its version and its cgroup: properties that are got, never set. */
  const asksSystemd = ({ name, text }: TracedCall) =>
    (name === "connect" && text.includes("AF_UNIX")) ||
    (name === "write" && /AUTH EXTERNAL|DBus\.Properties\\0\\3\\1s\\0\\3\\0\\0\\0Get/.test(text));
  const texts = (calls: readonly TracedCall[]) => calls.map(({ text }) => text);

  beforeAll(async () => {
    names.path = staying();
    names.other = staying((config) => config.process.env.push("A=b"));
    names.broken = staying((config) => {
      config.process.cwd = "relative";
    });
    writeFileSync(names.facts, await ok(["check", "-f", "json"]));
  });

  async function created(): Promise<string> {
    const name = id();
    await ok(["create", "-b", names.path, name]);
    return name;
  }

  test.each<[string, number, () => string[] | Promise<string[]>]>([
    ["validate", 0, () => ["validate", "-b", names.path]],
    ["validate of a broken bundle", 1, () => ["validate", "-f", "json", "-b", names.broken]],
    ["validate for recorded facts", 0, () => ["validate", "--host", names.facts, "-f", "sarif", "-b", names.path]],
    ["plan", 0, () => ["plan", "-b", names.path, "c"]],
    ["plan of run, explained", 0, () => ["plan", "--run", "--explain", "-b", names.path, "c"]],
    ["plan for recorded facts", 0, () => ["plan", "-f", "json", "--host", names.facts, "-b", names.path, "c"]],
    ["plan of a broken bundle", 1, () => ["plan", "-b", names.broken, "c"]],
    ["create --dry-run", 0, () => ["create", "--dry-run", "-b", names.path, "c"]],
    ["run --dry-run", 0, () => ["run", "--dry-run", "-b", names.path, "c"]],
    ["diff", 1, () => ["diff", names.path, names.other]],
    ["diff of a container", 0, async () => ["diff", names.path, await created()]],
    ["check", 0, () => ["check"]],
    ["check as facts", 0, () => ["check", "-f", "json"]],
    ["inspect", 0, async () => ["inspect", await created()]],
    ["inspect as text", 0, async () => ["inspect", "-f", "text", await created()]],
    ["schema", 0, () => ["schema", "plan"]],
  ])("%s only looks", async (_, expected, args) => {
    const words = await args();
    const { status, calls } = await traced(words);
    const isAllowed = (one: TracedCall) => looksOnly(one) || isOutput(one) || (words[0] === "check" && asksSystemd(one));
    expect(status).toBe(expected);
    // The trace is whole.
    expect(calls.map(({ name }) => name)).toContain("exit_group");
    expect(texts(calls.filter((one) => !isAllowed(one)))).toEqual([]);
    expect(texts(calls.filter(({ text }) => NAMESPACES.test(text.replace(/"(\\.|[^"\\])*"/g, ""))))).toEqual([]);
  });

  test("plan --out writes that file, and nothing else", async () => {
    const { status, calls } = await traced(["plan", "--out", names.out, "-b", names.path, "c"]);
    expect(status).toBe(0);
    const changing = calls.filter((one) => !looksOnly(one));
    const opened = changing.filter(({ name }) => name.startsWith("open"));
    expect(opened.map(({ args }) => stringOf(args[1] ?? "") ?? stringOf(args[0] ?? ""))).toEqual([names.out]);
    const written = changing.filter(({ name }) => name === "write");
    expect(new Set(written.map(({ args }) => Number(args[0])))).toEqual(new Set([opened[0]?.result]));
    expect(texts(changing.filter(({ name }) => name !== "write" && !name.startsWith("open")))).toEqual([]);
  });

  test("of the cgroups and of the state the verbs open nothing but to read", async () => {
    const { calls } = await traced(["inspect", await created()]);
    const opened = calls.filter(({ name, text }) => name.startsWith("open") && (text.includes(CGROUPS) || text.includes(root)));
    expect(opened.length).toBeGreaterThan(1);
    for (const { args } of opened) expect(args.flatMap(namesOf).filter((name) => /WRONLY|RDWR|CREAT|TRUNC|APPEND/.test(name))).toEqual([]);
  });

  describe("create --expect-plan is refused before anything is changed", () => {
    async function expectRefusal(change: (place: string, path: string) => readonly string[] | undefined) {
      const place = join(directory, `source-${Math.random().toString(36).slice(2)}`);
      mkdirSync(place);
      const path = staying((config) => config.mounts.push({ destination: "/mnt", type: "bind", source: place, options: ["bind"] }));
      const name = id();
      const digest = /sha256:[0-9a-f]{64}/.exec(await ok(["plan", "-b", path, name]))![0];
      // What is refused below is refused for no other reason. (Never traced: strace waits for the container.)
      await ok(["create", "--expect-plan", digest, "-b", path, name]);
      await ok(["delete", "--force", name]);
      const before = readdirSync(root).sort();
      const { status, stderr, calls } = await traced(["create", "--expect-plan", digest, "-b", path, name], change(place, path));
      expect([status, stderr]).toEqual([1, expect.stringContaining("as expected")]);
      const memory = calls.filter((one) => one.name === "memfd_create").map(({ result }) => result);
      const ofMemory = (one: TracedCall) => one.name === "ftruncate" && memory.includes(Number(one.args[0]));
      expect(texts(calls.filter((one) => !looksOnly(one) && !isOutput(one) && !ofMemory(one)))).toEqual([]);
      expect(readdirSync(root).sort()).toEqual(before);
    }

    test("config.json is another one", () =>
      expectRefusal((_, path) => {
        const file = join(path, "config.json");
        writeFileSync(file, `${readFileSync(file, "utf8")} `);
        return undefined;
      }));

    test("a source has another inode", () =>
      expectRefusal((place) => {
        // The old directory stays, so that its inode is not used again.
        renameSync(place, `${place}.old`);
        mkdirSync(place);
        return undefined;
      }));

    // cgroup v2 has one hierarchy: without it nothing would be left to compare.
    test.skipIf(isUnified)("the host offers something else", () =>
      // In a mount namespace of its own: a hierarchy less.
      expectRefusal(() => ["unshare", "--mount", "sh", "-c", HIDE_CGROUPS, "sh"]),
    );
  });
});

const HIDE_CGROUPS = 'umount /sys/fs/cgroup/freezer && exec "$@"';
