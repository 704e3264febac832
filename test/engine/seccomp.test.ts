/** Which system calls a container may make, as the kernel answers them. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { statusOf } from "./kernel-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("seccomp (needs root)", () => {
  const scene = useEngine();
  const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const apply = async (fields: Readonly<Record<string, unknown>>, script: string) =>
    http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", [{ name: "a", script, fields }]) });
  const outputOf = async (fields: Readonly<Record<string, unknown>>, script: string): Promise<string> => {
    // In one stream: the log has two in the order in which they are read.
    await apply(fields, `exec 2>&1; ${script}; echo done; sleep 1000`);
    const { log } = (await task()).containers[0];
    await until(() => /done\n$/.test(allPrinted(log)));
    return allPrinted(log);
  };
  const pid = () => scene.list()[0]!.pid;

  test("without a word a container has a filter, and its programs work", async () => {
    await scene.daemon();
    const output = await outputOf({}, "unshare -U true; ls / >/dev/null && date >/dev/null && echo works");
    expect(output).toMatch(/unshare.*Operation not permitted/);
    expect(output).toContain("works\n");
    expect(statusOf(pid())["Seccomp"]).toBe("2");
  });

  test("a capability lets through what it is for", async () => {
    await scene.daemon();
    const output = await outputOf({ capabilities: { add: ["CAP_SYS_ADMIN"] } }, "mount -t tmpfs none /tmp && echo mounted");
    expect(output).toContain("mounted\n");
    expect(statusOf(pid())["Seccomp"]).toBe("2");
  });

  test("unconfined: there is none", async () => {
    await scene.daemon();
    await outputOf({ seccomp: "unconfined" }, "true");
    expect(statusOf(pid())["Seccomp"]).toBe("0");
  });

  test("a file: exactly what it says, with arguments of 64 bits", async () => {
    await scene.daemon();
    const rule = { names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 28 };
    const wide = '{"names":["dup3"],"action":"SCMP_ACT_ERRNO","args":[{"index":2,"value":18446744073709551615,"op":"SCMP_CMP_EQ"}]}';
    const text = `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[${JSON.stringify(rule)},${wide}]}`;
    const output = await outputOf({ seccomp: scene.file("filter.json", text) }, "mkdir /tmp/x");
    expect(output).toMatch(/No space left on device/);
    expect(readFileSync(`${scene.stateDir}/executors/${scene.list()[0]!.id}/config.json`, "utf8")).toContain("18446744073709551615");
  });

  test.each([
    ["is not there", undefined, /cannot read .*filter\.json: ENOENT/],
    ["is no JSON", "{", /cannot read .*filter\.json: .*JSON/],
    ["is something else", '{"a":1}', /filter\.json: it has no defaultAction/],
  ])("a file that %s: the task stops, names it, and nothing was made", async (_, text, reason) => {
    await scene.daemon();
    const file = text === undefined ? `${scene.directory}/no/filter.json` : scene.file("filter.json", text);
    await apply({ seccomp: file }, "true");
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toMatch(reason);
    expect(scene.list()).toEqual([]);
  });
});
