/** --output-log: a log of what a container prints, by the command line alone. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";
import { logFiles, logRecords, printed } from "../support/log-file.ts";

describe.skipIf(!isRoot || !isRunt)("--output-log (needs root)", () => {
  const { bundle, directory, id, ok, root } = useHarness();
  let count = 0;
  const place = () => join(directory, `place-${++count}`);
  const phaseOf = (path: string) => JSON.parse(readFileSync(path, "utf8")).phase;
  const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");

  /** runt with FIFOs that nobody else reads as stdout and stderr. */
  function start(verb: string, words: readonly string[]): void {
    const fifo = place();
    execFileSync("mkfifo", [`${fifo}.out`, `${fifo}.err`]);
    const command = `exec ${quoted([RUNTIME, "--root", root, verb, ...words])} 1<>${fifo}.out 2<>${fifo}.err </dev/null`;
    const { status } = spawnSync("sh", ["-c", command], { timeout: 20_000 * SLOW });
    expect(status).toBe(0);
  }

  test("run: everything that was printed is in the log when the record says that nothing is left", async () => {
    const [name, record, log] = [id(), place(), place()];
    const prints = bundle((config) => shell(config, "i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done; echo bad >&2; exit 3"));
    start("run", ["-d", "--exit-record", record, "--output-log", log, "-b", prints, name]);
    await expect.poll(() => phaseOf(record), { timeout: 15_000 * SLOW, interval: 5 }).toBe("exited");
    expect(printed(log, "stdout")).toBe(Array.from({ length: 2000 }, (_, index) => `${index}\n`).join(""));
    expect(printed(log, "stderr")).toBe("bad\n");
    expect(JSON.parse(readFileSync(`${record}.log`, "utf8"))).toMatchObject({ lines: 2001, droppedLines: 0 });
  });

  test("create and start, with files as small and as few as they may be", async () => {
    const [name, record, log] = [id(), place(), place()];
    const prints = bundle((config) => shell(config, "i=0; while [ $i -lt 4000 ]; do echo $i aaaaaaaaaaaaaaaaaaaaaaaaa; i=$((i+1)); done"));
    const flags = ["--output-log", log, "--output-log-size", "65536", "--output-log-files", "2"];
    start("create", ["--exit-record", record, ...flags, "-b", prints, name]);
    expect(logRecords(log)).toEqual([]);
    await ok(["start", name]);
    await expect.poll(() => phaseOf(record), { timeout: 15_000 * SLOW, interval: 5 }).toBe("exited");
    expect(logFiles(log)).toEqual([`${log}.1`, log]);
    for (const file of logFiles(log)) expect(statSync(file).size).toBeLessThanOrEqual(65_536);
    expect(printed(log, "stdout")).toMatch(/\n3999 a+\n$/);
  });

  test("whoever has made the FIFOs is gone before the monitor is there: what is printed meanwhile is in the log", async () => {
    const [name, record, log, fifo, seen] = [id(), place(), place(), place(), place()];
    mkdirSync(seen);
    execFileSync("mkfifo", [`${fifo}.out`, `${fifo}.err`]);
    const prints = bundle((config) => {
      shell(config, "echo first; echo early >&2; touch /seen/printed; echo last");
      config.mounts.push({ destination: "/seen", type: "bind", source: seen, options: ["bind", "rw"] });
      // The monitor begins only behind this hook.
      const waits = `until [ -e ${seen}/printed ]; do sleep 0.01; done`;
      config.hooks = { poststart: [{ path: "/bin/sh", args: ["sh", "-c", waits], timeout: 20 }] };
    });
    const words = [RUNTIME, "--root", root, "run", "-d", "--exit-record", record, "--output-log", log, "-b", prints, name];
    // Writing ends without a reader: opening one of them waits for a reader, and here that is the shell itself.
    const command = `exec 3<>${fifo}.out 4<>${fifo}.err; exec ${quoted(words)} 1>${fifo}.out 2>${fifo}.err 3<&- 4<&- </dev/null`;
    expect(spawnSync("sh", ["-c", command], { timeout: 20_000 * SLOW }).status).toBe(0);
    await expect.poll(() => phaseOf(record), { timeout: 15_000 * SLOW, interval: 5 }).toBe("exited");
    expect(printed(log, "stdout")).toBe("first\nlast\n");
    expect(printed(log, "stderr")).toBe("early\n");
  });

  test("what cannot be is refused before anything is made", async () => {
    const [record, log] = [place(), place()];
    execFileSync("mkfifo", [`${log}.out`]);
    const refused = (words: readonly string[]) => {
      const command = `exec ${quoted([RUNTIME, "--root", root, "run", "-d", ...words, "-b", bundle(), id()])} 1<>${log}.out </dev/null`;
      const { status, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8", timeout: 20_000 * SLOW });
      expect(status).not.toBe(0);
      return stderr;
    };
    const recorded = ["--exit-record", record];
    expect(refused(["--output-log", log])).toContain("--output-log is for create and run with --exit-record");
    expect(refused([...recorded, "--output-log-size", "65536"])).toContain("are for --output-log");
    expect(refused([...recorded, "--output-log", log, "--output-log-size", "65535"])).toContain(
      "--output-log-size 65535: use 65536 or more",
    );
    expect(refused([...recorded, "--output-log", log, "--output-log-files", "0"])).toContain("use 1 to 1000");
    expect(refused([...recorded, "--output-log", `${log}/absent`])).toContain("no such file or directory");
    writeFileSync(`${log}.target`, "");
    symlinkSync(`${log}.target`, `${log}.link`);
    expect(refused([...recorded, "--output-log", `${log}.link`])).toContain("too many levels of symbolic links");
    execFileSync("ln", [`${log}.target`, `${log}.hard`]);
    expect(refused([...recorded, "--output-log", `${log}.hard`])).toContain("it has another name, too");
    execFileSync("mkfifo", [`${log}.fifo`]);
    expect(refused([...recorded, "--output-log", `${log}.fifo`])).toMatch(/no such device or address|no regular file/);
    const files = spawnSync(
      "sh",
      ["-c", `exec ${quoted([RUNTIME, "--root", root, "run", "-d", ...recorded, "--output-log", log, "-b", bundle(), id()])} >${log}.no`],
      {
        encoding: "utf8",
        stdio: ["ignore", "pipe", openSync(`${log}.said`, "w")],
      },
    );
    expect(files.status).not.toBe(0);
    expect(readFileSync(`${log}.said`, "utf8")).toContain("neither stdout nor stderr is a pipe");
    expect(existsSync(record)).toBe(false);
    expect(JSON.parse(await ok(["list", "-f", "json"])) ?? []).toEqual([]);
  });
});
