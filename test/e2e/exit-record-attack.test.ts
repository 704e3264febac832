/** run --exit-record in a directory that another user can write to: what he puts there is neither written to nor waited for. */

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const NOBODY = 65_534;
const AS_NOBODY = { uid: NOBODY, gid: NOBODY } as const;

/** argv: directory, kind, names. With "keep" as the first name it goes on for ever, as fast as it can. */
const MAKE = `
import os, sys
os.chdir(sys.argv[1])
kind, names = sys.argv[2], sys.argv[3:]
keep = names[0] == "keep"
def make(name):
    if kind == "file": os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    if kind == "symlink": os.symlink("precious", name)
    if kind == "hard link": os.link("precious", name)
    if kind == "fifo": os.mkfifo(name, 0o666)
    if kind == "directory": os.makedirs(name + "/in")
os.umask(0)
if not os.path.exists("precious"):
    with open("precious", "w") as file: file.write("precious")
while True:
    for name in names[keep:]:
        try: make(name)
        except FileExistsError: pass
    if not keep: break
    print("round", flush=True)
`;

describe.skipIf(!isRoot || !isRunt)("an exit record where others write (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();

  function shared(sticky: boolean): string {
    const path = join(directory, `shared-${Math.random().toString(36).slice(2)}`);
    mkdirSync(path);
    chmodSync(path, sticky ? 0o1777 : 0o777);
    return path;
  }

  /** Names beside the record that processes which are about to start would use. */
  function likelyNames(record: string): string[] {
    const last = Number(readFileSync("/proc/loadavg", "utf8").trim().split(" ").at(-1));
    return ["new", "stdout", "stderr", ...Array.from({ length: 400 }, (_, i) => String(last + i))].map((end) => `${record}.${end}`);
  }

  const make = (place: string, kind: string, names: readonly string[]) =>
    execFileSync("python3", ["-c", MAKE, place, kind, ...names], AS_NOBODY);

  /** stdout is a FIFO that nobody reads, so the monitor saves it. */
  function start(path: string, name: string, place: string): void {
    const out = join(directory, `${name}.fifo`);
    execFileSync("mkfifo", [out]);
    const talker = bundle((config) => shell(config, `echo mine; sleep ${0.2 * SLOW}; exit 3`));
    const command = `exec ${RUNTIME} --root ${root} run -d --exit-record ${path} -b ${talker} ${name} 1<>${out} 2>${directory}/${name}.err </dev/null`;
    try {
      execFileSync("sh", ["-c", command], { timeout: PATIENCE_MS, killSignal: "SIGKILL", cwd: place });
    } catch (error) {
      throw new Error(`${(error as Error).message}: ${readFileSync(join(directory, `${name}.err`), "utf8")}`);
    }
  }

  const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const exited = (path: string) => expect.poll(() => read(path), { interval: 20 }).toMatchObject({ phase: "exited", code: 3 });

  describe.each([
    ["sticky", true],
    ["not sticky", false],
  ])("%s", (_, sticky) => {
    test.each(["file", "symlink", "hard link", "fifo", "directory"])("a %s that was there before", async (kind) => {
      const place = shared(sticky);
      const [name, path] = [id(), join(place, "record")];
      const names = likelyNames("record");
      make(place, kind, names);
      start(path, name, place);
      await exited(path);
      expect(readdirSync(place).sort()).toEqual(["precious", "record", ...names].sort());
      const made = lstatSync(path);
      expect([made.isFile(), made.uid, made.nlink, made.mode & 0o777]).toEqual([true, 0, 1, 0o600]);
      if (kind === "directory") expect(readdirSync(`${path}.stdout`)).toEqual(["in"]);
      else {
        expect(lstatSync(`${path}.stdout`)).toMatchObject({ uid: 0, nlink: 1 });
        expect(lstatSync(`${path}.stdout`).isFile()).toBe(true);
        expect(readFileSync(`${path}.stdout`, "utf8")).toBe("mine\n");
      }
      expect(readFileSync(join(place, "precious"), "utf8")).toBe("precious");
      // The other files stay, and none of them is runt's.
      for (const entry of readdirSync(place)) {
        if (entry !== "record" && entry !== "record.stdout") expect([entry, lstatSync(join(place, entry)).uid]).toEqual([entry, NOBODY]);
      }
    });

    test.each(["symlink", "fifo"])("a %s that is made again and again", async (kind) => {
      const place = shared(sticky);
      const [name, path] = [id(), join(place, "record")];
      const attacker = spawn("python3", ["-c", MAKE, place, kind, "keep", ...likelyNames("record")], {
        ...AS_NOBODY,
        stdio: ["ignore", "pipe", "ignore"],
      });
      try {
        await new Promise((resolve) => attacker.stdout.once("data", resolve));
        attacker.stdout.resume();
        start(path, name, place);
        await exited(path);
      } finally {
        attacker.kill("SIGKILL");
      }
      expect(readFileSync(join(place, "precious"), "utf8")).toBe("precious");
      expect(lstatSync(path)).toMatchObject({ uid: 0, nlink: 1 });
    });

    test.each(["file", "symlink", "hard link", "fifo", "directory"])("a %s in the place of the record itself is refused", async (kind) => {
      const place = shared(sticky);
      const path = join(place, "record");
      make(place, kind, ["record"]);
      const before = lstatSync(path).ino;
      const result = await runtime(["run", "-d", "--exit-record", path, "-b", bundle((config) => shell(config, "true")), id()]);
      expect([result.status, result.stderr]).toEqual([1, expect.stringContaining("file exists")]);
      expect(lstatSync(path).ino).toBe(before);
      expect(readFileSync(join(place, "precious"), "utf8")).toBe("precious");
      expect(readdirSync(place).sort()).toEqual(["precious", "record"]);
    });
  });

  test("a record that was replaced while the container ran is left to whoever did it", async () => {
    const place = shared(false);
    const [name, path] = [id(), join(place, "record")];
    await ok(["run", "-d", "--exit-record", path, "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    const { pid } = read(path).monitor;
    make(place, "file", ["forged"]);
    writeFileSync(join(place, "forged"), "forged");
    renameSync(join(place, "forged"), path);
    await ok(["kill", name, "KILL"]);
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("forged");
    expect(readdirSync(place).sort()).toEqual(["precious", "record"]);
    expect(existsSync(join(root, name))).toBe(false);
  });

  test("a record that was removed while the container was made undoes the container", async () => {
    const place = shared(false);
    const [name, path] = [id(), join(place, "record")];
    const hooked = bundle((config) => {
      shell(config, "exec sleep 1000");
      Object.assign(config, { hooks: { createRuntime: [{ path: "/bin/rm", args: ["rm", path] }] } });
    });
    const result = await runtime(["run", "-d", "--exit-record", path, "-b", hooked, name]);
    expect([result.status, result.stderr]).toEqual([1, expect.stringContaining("another program has removed or replaced it")]);
    expect(existsSync(join(root, name))).toBe(false);
    expect(readdirSync(place)).toEqual([]);
  });
});
