/** Something else in the place of what runt has below its state root: no verb follows it, waits for it, changes it or believes it. */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

/** A verb that waits for what it has opened is killed after this time. */
const LIMITED = ["timeout", "-s", "KILL", "60"];
const HANGS = 137;
const NOBODY = 65_534;

const VERBS: readonly (readonly string[])[] = [
  ["state", "ID"],
  ["list"],
  ["list", "-f", "json"],
  ["ps", "ID"],
  ["inspect", "ID"],
  ["diff", "ID"],
  ["events", "--stats", "ID"],
  ["pause", "ID"],
  ["resume", "ID"],
  ["update", "--pids-limit", "100", "ID"],
  ["exec", "ID", "true"],
  ["start", "ID"],
  ["kill", "ID", "0"],
  ["checkpoint", "--image-path", "IMAGES", "ID"],
  ["gc", "--yes"],
  ["delete", "ID"],
];

/** `victim`: a directory of somebody else's with the file `precious`. */
const KINDS: Readonly<Record<string, (path: string, victim: string) => unknown>> = {
  "a link to a file": (path, victim) => symlinkSync(join(victim, "precious"), path),
  "a link to a directory": (path, victim) => symlinkSync(victim, path),
  "a link to nothing": (path, victim) => symlinkSync(join(victim, "made"), path),
  "a link to itself": (path) => symlinkSync(path, path),
  "a hard link": (path, victim) => linkSync(join(victim, "precious"), path),
  "a directory": (path) => mkdirSync(path),
  "a FIFO": (path) => execFileSync("mkfifo", [path]),
  "a FIFO of another user": (path) => {
    execFileSync("mkfifo", [path]);
    chownSync(path, NOBODY, NOBODY);
  },
  "a socket": (path) => execFileSync("python3", ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path]),
  "a device that never ends": (path) => execFileSync("mknod", [path, "c", "1", "5"]),
  "a terminal": (path) => execFileSync("mknod", [path, "c", "5", "2"]),
  "a terabyte": (path) => {
    writeFileSync(path, "{");
    truncateSync(path, 2 ** 40);
  },
  empty: (path) => writeFileSync(path, ""),
};

describe.skipIf(!isRoot || !isRunt)("entries of the state root (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  let count = 0;

  function victimOf(): string {
    const victim = join(directory, `victim-${++count}`);
    mkdirSync(join(victim, "below"), { recursive: true });
    for (const name of ["precious", "state.json", "below/precious"]) writeFileSync(join(victim, name), "precious");
    return victim;
  }

  const isWhole = (victim: string) =>
    readdirSync(victim).sort().join() === "below,precious,state.json" &&
    ["precious", "state.json", "below/precious"].every((name) => readFileSync(join(victim, name), "utf8") === "precious");

  const created = async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    return name;
  };

  const limited = (args: readonly string[]) => call(directory, [...LIMITED, RUNTIME, "--root", root, ...args]);

  async function everyVerb(name: string): Promise<readonly string[]> {
    const wrong: string[] = [];
    for (const words of VERBS) {
      const args = words.map((word) => (word === "ID" ? name : word === "IMAGES" ? join(directory, `images-${++count}`) : word));
      const { status, stderr } = await limited(args);
      if (status === HANGS || /internal error|stack overflow/.test(stderr)) wrong.push(`${args.join(" ")}: ${status} ${stderr}`);
    }
    return wrong;
  }

  describe.each(["state.json", "config.json", "exec.fifo", "state.json.new", "config.json.new", "start.error"])("%s", (entry) => {
    test.each(Object.entries(KINDS))("is %s", async (_, make) => {
      const name = await created();
      const { pid } = JSON.parse(await ok(["state", name]));
      const victim = victimOf();
      const path = join(root, name, entry);
      rmSync(path, { force: true });
      make(path, victim);
      expect(await everyVerb(name)).toEqual([]);
      expect((await limited(["delete", "--force", name])).status).not.toBe(HANGS);
      expect(isWhole(victim)).toBe(true);
      // The record alone names the process: without it the test has to end it.
      if (entry === "state.json" && existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
      expect(existsSync(join(root, name))).toBe(false);
    });
  });

  test.each([
    ["start", "exec.fifo", { status: 1 }],
    ["update", "state.json", { status: 1 }],
  ] as const)("%s refuses a link in the place of %s that leads to one of the same kind", async (verb, entry, expected) => {
    const [one, other] = [await created(), await created()];
    const [place, aside] = [join(root, one, entry), join(directory, `aside-${++count}`)];
    renameSync(place, aside);
    symlinkSync(join(root, other, entry), place);
    const args = verb === "update" ? ["update", "--pids-limit", "77", one] : [verb, one];
    expect(await runtime(args)).toMatchObject(expected);
    expect(JSON.parse(await ok(["state", other])).status).toBe("created");
    renameSync(aside, place);
  });

  // update asks first whether the hierarchy has the controller.
  test.skipIf(!hasControllers)("a damaged config.json: update says what is wrong and where", async () => {
    const name = await created();
    const path = join(root, name, "config.json");
    for (const [text, words] of [
      ['{"a": 1,', `${path}:1:9: expected a field name in double quotes`],
      ["[]", `${path}: not a configuration`],
    ] as const) {
      writeFileSync(path, text);
      expect(await runtime(["update", "--pids-limit", "100", name])).toMatchObject({ status: 1, stderr: expect.stringContaining(words) });
    }
  });

  test("ROOT/ID is a link: no verb follows it, and delete --force removes the link alone", async () => {
    const name = await created();
    const victim = victimOf();
    // Also one that leads to a directory with a record of this very id.
    const elsewhere = join(directory, `elsewhere-${++count}`);
    renameSync(join(root, name), elsewhere);
    for (const target of [victim, elsewhere, "/nowhere"]) {
      symlinkSync(target, join(root, name));
      expect(await everyVerb(name)).toEqual([]);
      for (const args of [
        ["state", name],
        ["kill", name, "KILL"],
        ["start", name],
        ["delete", name],
        ["exec", name, "true"],
      ])
        expect([args, (await runtime(args)).status]).toEqual([args, args[0] === "exec" ? 255 : 1]);
      expect(lstatSync(join(root, name)).isSymbolicLink()).toBe(true);
      expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
      expect(() => lstatSync(join(root, name))).toThrow();
    }
    expect(isWhole(victim)).toBe(true);
    renameSync(elsewhere, join(root, name));
    expect(JSON.parse(await ok(["state", name])).status).toBe("created");
  });

  test("a copy of a container's state under another id is an error, and its removal leaves the container alone", async () => {
    const name = await created();
    execFileSync("cp", ["-a", join(root, name), join(root, "copy")]);
    for (const args of [
      ["state", "copy"],
      ["kill", "copy", "KILL"],
      ["start", "copy"],
      ["update", "--pids-limit", "9", "copy"],
    ]) {
      const { status, stderr } = await runtime(args);
      expect([args, status]).toEqual([args, 1]);
      expect(stderr).toContain(`it is the record of another container (${name})`);
    }
    expect((await ok(["list"])).split("\n").filter((line) => line.includes("unreadable"))).toHaveLength(1);
    expect(await runtime(["delete", "--force", "copy"])).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(await ok(["state", name])).status).toBe("created");
    expect(existsSync(join(root, "copy"))).toBe(false);
  });

  test("a record of another user's is an error", async () => {
    const name = await created();
    chownSync(join(root, name, "state.json"), NOBODY, NOBODY);
    expect(await runtime(["kill", name, "KILL"])).toMatchObject({ status: 1 });
    chownSync(join(root, name, "state.json"), 0, 0);
    expect(JSON.parse(await ok(["state", name])).status).toBe("created");
  });

  test("the cache of filters is a link: gc removes nothing behind it", async () => {
    await created();
    const victim = join(directory, `victim-${++count}`);
    mkdirSync(join(victim, "seccomp"), { recursive: true });
    writeFileSync(join(victim, "seccomp/log.4194305"), "precious");
    rmSync(join(root, "@cache"), { recursive: true, force: true });
    symlinkSync(victim, join(root, "@cache"));
    await ok(["gc", "--yes"]);
    expect(readdirSync(join(victim, "seccomp"))).toEqual(["log.4194305"]);
    rmSync(join(root, "@cache"));
  });

  test("a link of another user's in the place of ROOT is refused, one of root's is not", async () => {
    const own = join(directory, `own-${++count}`);
    const link = join(directory, `link-${count}`);
    mkdirSync(own, { mode: 0o700 });
    symlinkSync(own, link);
    const name = id();
    const there = (...args: readonly string[]) => call(directory, [RUNTIME, "--root", link, ...args]);
    expect(
      await there(
        "create",
        "-b",
        bundle((config) => shell(config, "exec sleep 1000")),
        name,
      ),
    ).toMatchObject({ status: 0 });
    lchownSync(link, NOBODY, NOBODY);
    for (const args of [["state", name], ["delete", "--force", name], ["gc", "--yes"], ["list"]])
      expect((await there(...args)).stderr).toContain(`it belongs to the user ${NOBODY}`);
    lchownSync(link, 0, 0);
    expect(await there("delete", "--force", name)).toMatchObject({ status: 0 });
  });
});
