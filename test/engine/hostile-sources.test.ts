/** Sources of images that never answer, and programs that hang, are missing, or find another layout than the one before: each has a bound, and ends with the task. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { SLOW } from "../support/patience.ts";
import { hostileScene } from "./hostile-scene.ts";
import { tar } from "./image-files.ts";
import { isRoot, until, useEngine } from "./support.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
/** A program is killed when its task is, and gone within two seconds of the answer to who has asked for that. */
const GONE_MS = 2_000 * SLOW;

describe.skipIf(!isRoot || !HAS_PROGRAMS)("hostile sources of images (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const { images, layout, above, task, apply, stopped, remove, said, makeWitness, assertUntouched } = hostileScene(scene);
  /** Programs in place of real ones; `real` is where those are. Each says its pid in a file. */
  const fakes = (scripts: Readonly<Record<string, string>>): string => {
    const bin = join(scene.directory, "bin");
    rmSync(bin, { recursive: true, force: true });
    mkdirSync(bin);
    for (const [name, script] of Object.entries(scripts))
      writeFileSync(join(bin, name), `#!/bin/sh\nreal=/usr/bin/${name}\npid=${pidFile(name)}\n${script}\n`, { mode: 0o755 });
    return `export PATH=${bin}:$PATH`;
  };
  /** Whoever waits for one of the FIFOs finds its end, also when a test has failed and nobody is there to end him. */
  const fifos: string[] = [];
  const replaced = (directory: string, which: string): string => {
    const path = join(directory, which);
    rmSync(path);
    execFileSync("mkfifo", [path]);
    fifos.push(path);
    return directory;
  };
  afterEach(() => {
    for (const path of fifos.splice(0)) closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
  });
  const withoutManifest = (): string => {
    const directory = layout();
    const [{ digest }] = JSON.parse(readFileSync(join(directory, "index.json"), "utf8")).manifests;
    return replaced(directory, join("blobs/sha256", digest.slice("sha256:".length)));
  };
  const pidFile = (name: string) => join(scene.directory, `${name}.pid`);
  const pidsIn = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : []);
  /** A pid may be somebody else's by now. */
  const isOurs = (pid: string) => {
    const path = `/proc/${pid}/cmdline`;
    return existsSync(path) && [scene.directory, "sleep\x00300\x00"].some((text) => readFileSync(path, "utf8").includes(text));
  };
  const assertGone = async (pids: readonly string[]) => {
    expect(pids).not.toEqual([]);
    await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)), GONE_MS);
  };
  const stop = async (name: string) => {
    expect((await scene.ctl("stop", name)).status).toBe(0);
    await stopped(name);
  };
  const assertNextRuns = async () => {
    await assertUntouched();
    expect(await said(above(tar([{ name: "fine", content: "fine" }])), "cat /fine")).toEqual(["fine"]);
  };
  const childrenOf = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);

  test("a FIFO in place of a part: the index is refused, a blob is waited for within the bound, and until the task is stopped", async () => {
    makeWitness();
    const daemon = await scene.daemon();
    const index = replaced(layout(), "index.json");
    await apply("index", index);
    expect((await stopped("index")).reason).toMatch(/index\.json is no regular file/);
    await remove("index");
    const hung = withoutManifest();
    await apply("hung", hung);
    await until(() => childrenOf(daemon.pid).length > 0);
    const children = childrenOf(daemon.pid);
    await stop("hung");
    await assertGone(children);
    await remove("hung");
    const linked = layout();
    rmSync(join(linked, "index.json"));
    symlinkSync("/etc/shadow", join(linked, "index.json"));
    await apply("linked", linked);
    const { reason } = await stopped("linked");
    expect(reason).toMatch(/index\.json: it is no JSON$/);
    await remove("linked");
    await assertNextRuns();
  });

  test("what never comes is given up after the time that the host allows", async () => {
    makeWitness();
    await scene.daemon({ args: ["--pull-timeout", "1s"] });
    await apply("late", withoutManifest());
    expect((await stopped("late")).reason).toMatch(/PullTimeout: it was not there within 1 s/);
    await remove("late");
    await assertUntouched();
  });

  test("programs that hang end with their task, also when somebody has left their group and holds their pipes", async () => {
    makeWitness();
    // There is one slot: who comes second would wait for ever if the first one kept it.
    const left = 'setsid sleep 300 & echo $! > "$pid.left"';
    const hang = `trap "" TERM\n${left}\necho $$ >> "$pid"\nsleep 300`;
    const before = fakes({
      skopeo: `case "$*" in *-hang*) ${hang} ;; esac\nexec $real "$@"`,
      umoci: `[ ! -e "$pid.hang" ] || { echo $$ >> "$pid"; sleep 300; }\nexec $real "$@"`,
    });
    await scene.daemon({ before, args: ["--pulls-at-once", "1"] });
    try {
      const first = `${layout()}-hang`;
      await apply("first", first);
      await until(() => pidsIn(pidFile("skopeo")).length > 0);
      await stop("first");
      await assertGone(pidsIn(pidFile("skopeo")));
      await remove("first");
      writeFileSync(`${pidFile("umoci")}.hang`, "");
      await apply("second", above(tar([{ name: "second" }])));
      await until(() => pidsIn(pidFile("umoci")).length > 0);
      await stop("second");
      await assertGone(pidsIn(pidFile("umoci")));
      rmSync(`${pidFile("umoci")}.hang`);
      await remove("second");
      await until(() => readdirSync(join(images(), "staging")).length === 0);
      await assertNextRuns();
    } finally {
      const pids = [pidFile("skopeo"), `${pidFile("skopeo")}.left`, pidFile("umoci")].flatMap(pidsIn);
      for (const pid of pids.filter(isOurs)) process.kill(Number(pid), "SIGKILL");
    }
  });

  test("programs that fail, print without end, or say nothing", async () => {
    makeWitness();
    const before = fakes({
      skopeo: `case "$*" in *-fails*) echo 'level=fatal msg="no \\"way\\""' >&2; exit 1 ;; *-floods*) exec yes ;; *-empty*) exit 0 ;; esac\nexec $real "$@"`,
      umoci: `[ "$2 $3" = "raw unpack" ] && exit 137; exec $real "$@"`,
    });
    await scene.daemon({ before });
    const cases: readonly (readonly [end: string, reason: RegExp])[] = [
      ["-fails", /skopeo has failed \(1\): no "way"$/],
      ["-floods", /skopeo has printed more than \d+ bytes/],
      ["-empty", /it is no JSON$/],
      ["", /could not be unpacked: sh has failed \(137\)$/],
    ];
    for (const [at, [end]] of cases.entries()) await apply(`t${at}`, `${layout()}${end}`);
    for (const [at, [, reason]] of cases.entries()) expect((await stopped(`t${at}`)).reason).toMatch(reason);
    for (const at of cases.keys()) await remove(`t${at}`);
    writeFileSync(join(scene.directory, "bin/umoci"), `#!/bin/sh\nexec /usr/bin/umoci "$@"\n`);
    await assertNextRuns();
  });

  test("a host without umoci: its package is named, and the next image runs when it is there", async () => {
    makeWitness();
    const bin = join(scene.directory, "without");
    mkdirSync(bin);
    for (const name of ["skopeo", "sh", "mount", "umount", "unshare", "cp", "sync", "mkfifo"])
      symlinkSync(`/usr/bin/${name}`, join(bin, name));
    await scene.daemon({ before: `export PATH=${bin}` });
    await apply("without", layout());
    expect((await stopped("without")).reason).toMatch(/umoci is not installed: apt-get install umoci$/);
    await remove("without");
    symlinkSync("/usr/bin/umoci", join(bin, "umoci"));
    await assertNextRuns();
  });

  test("a layout that is another one when it is copied", async () => {
    makeWitness();
    const other = layout({ config: { Env: ["A=other"] } });
    const before = fakes({
      skopeo: `case "$1 $*" in "copy "*-changes*) cp -a ${other}/. ${scene.directory}/layout-changes/ ;; esac\nexec $real "$@"`,
    });
    await scene.daemon({ before });
    const changes = join(scene.directory, "layout-changes");
    execFileSync("cp", ["-a", layout(), changes]);
    await apply("changed", changes);
    expect((await stopped("changed")).reason).toMatch(/it was changed while it was copied$/);
    expect((await task("changed")).containers[0].image).toBe(null);
    await remove("changed");
    await assertNextRuns();
  });

  test("a part in the store that is damaged is got anew", async () => {
    makeWitness();
    await scene.daemon();
    const directory = above(tar([{ name: "fine", content: "fine" }]));
    expect(await said(directory, "cat /fine")).toEqual(["fine"]);
    const blobs = join(images(), "layout/blobs/sha256");
    // As after a loss of power: names are there, and contents are not.
    for (const name of readdirSync(join(images(), "layers"))) rmSync(join(images(), "layers", name), { recursive: true });
    for (const name of readdirSync(blobs)) writeFileSync(join(blobs, name), readFileSync(join(blobs, name)).fill(0));
    await apply("damaged", directory);
    const first = await stopped("damaged");
    await remove("damaged");
    // One layer after the other is found out, if not at once.
    if (!/exited with 0$/.test(first.reason)) {
      expect(first.reason).toMatch(/layer sha256:.*incorrect header check/);
      await apply("damaged", directory);
      await stopped("damaged");
      await remove("damaged");
    }
    expect(await said(directory, "cat /fine")).toEqual(["fine"]);
    await assertUntouched();
  });
});
