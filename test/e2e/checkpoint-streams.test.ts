/** checkpoint and restore with a real criu: the standard streams of the container and of whoever calls restore need not be of one kind. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { criuMissing } from "../support/criu.ts";
import { call, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { sharedRootfs } from "../support/programs.ts";

/** It prints, and to be seen from outside counts in a tmpfs that criu saves. */
const COUNTER = "n=0; while :; do n=$((n+1)); echo line $n; echo $n >/dev/shm/new; mv /dev/shm/new /dev/shm/count; usleep 20000; done";
const missing = criuMissing();

describe.skipIf(missing !== undefined)(`streams and a real criu${missing ? ` (${missing})` : ""}`, () => {
  const harness = useHarness();
  const { directory, id, ok } = harness;
  let count = 0;

  async function counter(): Promise<string> {
    const path = join(directory, `own-${++count}`);
    mkdirSync(path);
    await ok(["spec", "-b", path]);
    const file = join(path, "config.json");
    const config = JSON.parse(readFileSync(file, "utf8"));
    execFileSync("cp", ["-a", sharedRootfs(), join(path, "rootfs")]);
    config.process.terminal = false;
    config.linux.cgroupsPath = `/runt-test-${process.pid}/streams-${count}`;
    shell(config, COUNTER);
    writeFileSync(file, JSON.stringify(config));
    return path;
  }

  const runt = `${RUNTIME} --root ${harness.root}`;
  const inShell = (script: string) => call(directory, ["bash", "-c", `set -o pipefail; cd ${directory}; ${script}`]);
  const counted = async (name: string) => Number(await ok(["exec", name, "cat", "/dev/shm/count"]));
  const passes = (name: string, least: number) => expect.poll(() => counted(name)).toBeGreaterThan(least);

  /** Returns the image and how far it had come. */
  async function saved(path: string, streams: string) {
    const name = id();
    expect(await inShell(`${runt} run -d -b ${path} ${name} ${streams}`)).toMatchObject({ status: 0 });
    await passes(name, 3);
    const before = await counted(name);
    const image = join(directory, `image-${++count}`);
    expect(await inShell(`${runt} checkpoint --image-path ${image} ${name}`)).toEqual({ status: 0, stdout: "", stderr: "" });
    return { image, before };
  }

  test.each([
    ["the null device", "</dev/null >/dev/null 2>&1"],
    ["a file", "</dev/null >log 2>&1"],
    ["a file that is appended to", "</dev/null >>log 2>&1"],
    ["files of all kinds", "</etc/passwd >log 2>errors"],
  ])("from %s into a pipe, a terminal, nothing and another file; and again", async (_, streams) => {
    const path = await counter();
    const { image, before } = await saved(path, streams);
    let last = image;
    for (const [around, words] of [
      ["R | cat", ""],
      ["script -qec 'R' /dev/null </dev/null", ""],
      ["R <&- >&- 2>&-", ""],
      ["R </dev/null >other 2>&1", ""],
    ]) {
      const name = id();
      const restore = `${runt} restore -d --image-path ${last} -b ${path} ${words} ${name}`;
      const { status, stdout, stderr } = await inShell(around!.replace("R", restore));
      expect({ around, status, stdout, stderr }).toMatchObject({ status: 0 });
      await passes(name, before);
      last = join(directory, `image-${++count}`);
      await ok(["checkpoint", "--image-path", last, name]);
    }
  });

  test("what it prints goes on in the file that restore has, from its end", async () => {
    const path = await counter();
    const { image, before } = await saved(path, "</dev/null >first 2>&1");
    const name = id();
    expect(
      await inShell(`echo begin >second; ${runt} restore -d --image-path ${image} -b ${path} ${name} </dev/null >>second 2>&1`),
    ).toMatchObject({ status: 0 });
    await passes(name, before + 3);
    const lines = readFileSync(join(directory, "second"), "utf8").split("\n");
    expect([lines[0], lines[2]]).toEqual(["begin", expect.stringMatching(/^line \d+$/)]);
  });

  test.each([
    ["a directory", "</"],
    ["a FIFO", "<fifo"],
  ])("what no restore could give is refused, and the container goes on: %s", async (what, stdin) => {
    const path = await counter();
    const name = id();
    expect(
      await inShell(`[ -p fifo ] || mkfifo fifo; sleep 0.1 <>fifo & ${runt} run -d -b ${path} ${name} ${stdin} >log 2>&1`),
    ).toMatchObject({ status: 0 });
    await passes(name, 3);
    const { status, stderr } = await inShell(`${runt} checkpoint --image-path image-${++count} ${name}`);
    expect([status, stderr]).toEqual([1, `runt: no restore could give the container a standard stream that is ${what} of the host\n`]);
    await passes(name, await counted(name));
  });
});
