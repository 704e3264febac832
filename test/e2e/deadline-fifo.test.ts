/** --deadline-fifo: the monitor of a container kills it in time, also when the process that has set the time is dead. */
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot || !isRunt)("--deadline-fifo (needs root)", () => {
  const { bundle, directory, id, ok, runtime } = useHarness();
  const poll = { timeout: 20_000, interval: 20 };
  let made = 0;

  function fifo(): string {
    const path = join(directory, `deadline-${++made}`);
    execFileSync("mkfifo", ["-m", "600", path]);
    return path;
  }
  function write(path: string, text: string): void {
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fd, text);
    closeSync(fd);
  }
  async function running(path: string): Promise<() => { readonly phase: string; readonly signal: number | null }> {
    const record = join(directory, `record-${made}`);
    const config = bundle((one) => {
      one.process.args = ["/bin/sleep", "1000"];
    });
    await ok(["run", "-d", "--exit-record", record, "--deadline-fifo", path, "-b", config, id()]);
    return () => JSON.parse(readFileSync(record, "utf8"));
  }

  test("the last line counts, in pieces too; 0 is none, and what is no number has no effect", async () => {
    const path = fifo();
    const record = await running(path);
    write(path, "1\n0\n");
    write(path, "x\n-1\n\n1 1\n1000000000000000000000\n");
    write(path, "9999999");
    await expect.poll(record, poll).toMatchObject({ phase: "running" });
    write(path, "99\n");
    const began = performance.now();
    write(path, "300\n");
    await expect.poll(record, poll).toMatchObject({ phase: "exited", signal: 9 });
    expect(performance.now() - began).toBeGreaterThan(250);
  });

  test("what is no FIFO, and a container without an exit record, is refused before anything is done", async () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    const path = bundle();
    const refused = async (flags: readonly string[]) => (await runtime(["run", "-d", ...flags, "-b", path, id()])).stderr;
    expect(await refused(["--deadline-fifo", fifo()])).toContain("--deadline-fifo is for create and run with --exit-record");
    const record = join(directory, "never");
    expect(await refused(["--exit-record", record, "--deadline-fifo", file])).toContain(`--deadline-fifo ${file}: no FIFO`);
    expect(JSON.parse(await ok(["list", "-f", "json"])) ?? []).toEqual([]);
  });
});
