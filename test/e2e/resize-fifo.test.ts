/** --resize-fifo: a terminal that is shown in no other one, with its size from a FIFO. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

/** Tells its size whenever it is another one; ends at 50 rows. */
const WATCHER =
  'trap "" HUP; old=; while :; do now=$(stty size); [ "$now" = "$old" ] || echo "size $now"; old=$now; case $now in 50*) exit 6;; esac; sleep 0.02; done';

describe.skipIf(!isRoot || !isRunt)("--resize-fifo (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  const poll = { interval: 20 };
  let count = 0;

  function fifo(): string {
    const path = join(directory, `sizes-${++count}`);
    execFileSync("mkfifo", [path]);
    return path;
  }

  function write(path: string, text: string): void {
    // Without a reader it would fail: somebody has it open.
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fd, text);
    closeSync(fd);
  }

  async function sleeper(): Promise<string> {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    await until(name, "running");
    return name;
  }

  test("exec --tty on pipes: the first size is there from the beginning, later ones follow, other lines have no effect", async () => {
    const name = await sleeper();
    const path = fifo();
    const words = ["exec", "-t", "--console-size", "33x77", "--resize-fifo", path, name, "sh", "-c", WATCHER];
    const child = spawn(RUNTIME, ["--root", root, ...words], { stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    await expect.poll(() => output, poll).toBe("size 33 77\n");
    // It stays open for whoever comes, a line may come in pieces, and what is no size changes nothing.
    write(path, "40 1");
    write(path, "00\n0 5\n5 0\n65536 1\n1 65536\n-1 -1\n4 4 4\n 8 8\n8  8\n8\nx\n\n");
    await expect.poll(() => output, poll).toBe("size 33 77\nsize 40 100\n");
    write(path, "99999999999999999999 1\n41 101\n");
    await expect.poll(() => output, poll).toContain("size 41 101\n");
    write(path, "50 1234\n");
    expect(await ended).toBe(6);
    expect(output).toBe("size 33 77\nsize 40 100\nsize 41 101\nsize 50 1234\n");
  });

  test("run --exit-record: anybody who may write into it resizes the container's terminal, also when its maker is gone", async () => {
    const [name, path, record, output] = [id(), fifo(), join(directory, "record"), join(directory, "output")];
    const config = bundle((one: Config) => {
      one.process.terminal = true;
      one.process.consoleSize = { height: 20, width: 60 };
      shell(one, WATCHER);
    });
    writeFileSync(output, "");
    const out = openSync(output, "a");
    const flags = ["run", "-d", "--exit-record", record, "--resize-fifo", path, "-b", config, name];
    await new Promise((resolve) => spawn(RUNTIME, ["--root", root, ...flags], { stdio: ["ignore", out, "inherit"] }).on("exit", resolve));
    closeSync(out);
    const read = () => readFileSync(output, "utf8");
    await expect.poll(read, poll).toBe("size 20 60\n");
    write(path, "30 90\n");
    await expect.poll(read, poll).toBe("size 20 60\nsize 30 90\n");
    write(path, "50 5\n");
    await expect.poll(() => JSON.parse(readFileSync(record, "utf8")).phase, poll).toBe("exited");
    expect(JSON.parse(readFileSync(record, "utf8"))).toMatchObject({ code: 6 });
    // The monitor ends with its last word: then nobody reads it any more.
    await expect
      .poll(() => {
        try {
          write(path, "1 1\n");
          return "";
        } catch (error) {
          return (error as NodeJS.ErrnoException).code;
        }
      }, poll)
      .toBe("ENXIO");
  });

  test("what is not a FIFO, and what has no terminal, is refused before anything is done", async () => {
    const name = await sleeper();
    const refused = async (args: readonly string[]) => {
      const { status, stderr } = await runtime(args);
      expect(status).not.toBe(0);
      return stderr;
    };
    const file = join(directory, "file");
    writeFileSync(file, "");
    expect(await refused(["exec", "-t", "--resize-fifo", file, name, "true"])).toContain(`--resize-fifo ${file}: no FIFO`);
    expect(await refused(["exec", "-t", "--resize-fifo", join(directory, "absent"), name, "true"])).toMatch(
      /--resize-fifo .*: no such file/i,
    );
    expect(await refused(["exec", "--resize-fifo", fifo(), name, "true"])).toContain("--resize-fifo is for a terminal");
    for (const size of ["", "40", "40 100", "0x1", "1x65536", "-1x1", "1x1x1"]) {
      expect(await refused(["exec", "-t", "--console-size", size, "--resize-fifo", fifo(), name, "true"])).toContain("use ROWSxCOLUMNS");
    }
    expect(await refused(["exec", "--console-size", "1x1", name, "true"])).toContain("--console-size is for a terminal");
    const record = join(directory, "never");
    const plain = bundle();
    expect(await refused(["run", "-d", "--exit-record", record, "--resize-fifo", fifo(), "-b", plain, id()])).toContain(
      "is for a terminal",
    );
    expect(await refused(["run", "-d", "--resize-fifo", fifo(), "-b", plain, id()])).toContain("is for a terminal");
    expect(JSON.parse(await ok(["list", "-f", "json"])).map((one: { id: string }) => one.id)).toEqual([name]);
  });
});
