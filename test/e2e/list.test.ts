/** list and state: what they say of many and odd containers, the table as the JSON. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

interface Entry {
  readonly id: string;
  readonly status: string;
  readonly pid?: number;
  readonly bundle?: string;
  readonly owner?: string;
  readonly error?: string;
}
type Text = Record<string, unknown>;

/** How an init may wait, or not: shell commands. */
const WAYS = {
  nanosleep: "exec sleep 1000",
  "open of a FIFO": "mkfifo /tmp/fifo && exec cat /tmp/fifo",
  "read of a pipe": "mkfifo /tmp/fifo && exec 3<>/tmp/fifo && exec cat <&3",
  "write to a pipe": "mkfifo /tmp/fifo && exec 3<>/tmp/fifo && exec cat /dev/zero >&3",
  accept: "exec nc -l -p 1000",
  "wait for a child": "sleep 1000; :",
  "wait for a signal": "trap : USR1; sleep 1000 & wait",
  "a busy child": "(while :; do :; done); :",
  "a busy loop": "while :; do :; done",
  stopped: "kill -STOP $$; sleep 1000",
};

const FREEZER = "/sys/fs/cgroup/freezer";

describe.skipIf(!isRoot || !isRunt)("list (needs root)", () => {
  const { bundle, directory, id, ok, root, until } = useHarness();

  async function entries(of = root): Promise<Entry[]> {
    return JSON.parse(await ok(["--root", of, "list", "--format", "json"])) ?? [];
  }

  /** Rows of the table, which list makes without the code that makes the JSON. */
  async function rows(of = root): Promise<string[][]> {
    const [head = "", ...lines] = (await ok(["--root", of, "list"])).trimEnd().split("\n");
    const starts = [...head.matchAll(/\S+/g)].map(({ index }) => index);
    return lines.map((line) => starts.map((start, column) => line.slice(start, starts[column + 1]).trimEnd()));
  }

  async function statuses(names: readonly string[]): Promise<string[][]> {
    const table = new Map((await rows()).map(([name = "", , status = ""]) => [name, status]));
    const list = new Map((await entries()).map(({ id: name, status }) => [name, status]));
    return Promise.all(
      names.map(async (name) => [table.get(name) ?? "", list.get(name) ?? "", JSON.parse(await ok(["state", name])).status as string]),
    );
  }

  test("a paused container is told as such however its init waits", async () => {
    const names: string[] = [];
    for (const command of Object.values(WAYS)) {
      const name = id();
      const path = bundle((config) => {
        shell(config, command);
        config.mounts = [...config.mounts, { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["mode=1777"] }];
      });
      await ok(["run", "-d", "-b", path, name]);
      names.push(name);
    }
    const created = id();
    await ok(["create", "-b", bundle((config) => shell(config, "exit 0")), created]);
    const ready = [...names.map(() => Array(3).fill("running")), Array(3).fill("created")];
    const all = [...names, created];
    for (let round = 0; round < 3; round++) {
      expect(await statuses(all)).toEqual(ready);
      for (const name of all) await ok(["pause", name]);
      expect(await statuses(all)).toEqual(all.map(() => Array(3).fill("paused")));
      for (const name of all) await ok(["resume", name]);
    }
    expect(await statuses(all)).toEqual(ready);
  });

  test.skipIf(!existsSync(FREEZER))("an init that waits for frozen processes before it can end is paused with them", async () => {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "sleep 1000 & wait")), name]);
    const { pid } = JSON.parse(await ok(["state", name])) as { pid: number };
    const cgroup = join(FREEZER, /:freezer:(.*)/.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1] ?? "");
    const processes = () => readFileSync(join(cgroup, "cgroup.procs"), "utf8").trim().split("\n");
    await expect.poll(processes).toHaveLength(2);
    const child = processes().find((each) => each !== String(pid)) ?? "";
    const part = join(cgroup, "part");
    mkdirSync(part);
    writeFileSync(join(part, "cgroup.procs"), child);
    writeFileSync(join(part, "freezer.state"), "FROZEN");
    await expect.poll(() => readFileSync(join(part, "freezer.state"), "utf8")).toBe("FROZEN\n");
    process.kill(pid, "SIGKILL");
    // State, and flags with PF_EXITING.
    const stat = () => {
      const [state, ...rest] = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /s, "").split(" ");
      return [state, Number(rest[5]) & 4];
    };
    await expect.poll(stat).toEqual(["S", 4]);
    expect(await statuses([name])).toEqual([Array(3).fill("running")]);
    await ok(["pause", name]);
    expect(await statuses([name])).toEqual([Array(3).fill("paused")]);
    // Processes that the container has frozen itself are killed, too.
    await ok(["delete", "--force", name]);
    expect(existsSync(cgroup)).toBe(false);
  });

  test("the table says of odd records what the JSON says", async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => shell(config, "exit 0")), name]);
    const odd = join(directory, "odd");
    mkdirSync(odd, { mode: 0o700 });
    const text = readFileSync(join(root, name, "state.json"), "utf8");
    const sound = JSON.parse(text) as Text;
    const put = (as: string, record: string | Buffer) => {
      cpSync(join(root, name), join(odd, as), { recursive: true, filter: (from) => !from.endsWith(".fifo") });
      writeFileSync(join(odd, as, "state.json"), record);
    };
    const changed = (as: string, change: Text) => put(as, JSON.stringify({ ...sound, id: as, ...change }));
    const cgroup = sound["cgroup"] as Text;
    const freezes = (as: string, line: string) => {
      const path = join(directory, as);
      mkdirSync(path);
      writeFileSync(join(path, "cgroup.freeze"), line);
      return { ...cgroup, version: 2, paths: [path] };
    };
    changed("running", {});
    changed("gone", { pid: 4_194_000 });
    changed("no-pid", { pid: 0 });
    changed("another", { startTime: "1" });
    changed("large-pid", { pid: 1e11 });
    changed("creating", { phase: "creating" });
    changed("newer", { minor: 9 });
    changed("older", { minor: 0 });
    changed("other-schema", { schema: 2 });
    changed("other-owner", { owner: 4_123_456 });
    changed("name-of-another", { id: "elsewhere" });
    changed("long", { bundle: `/${"x".repeat(300)}` });
    changed("wide", { bundle: "/ä漢😀" });
    changed("escaped", { bundle: "/a\tb" });
    changed("large", { warnings: ["w".repeat(40_000)] });
    changed("no-annotations", { annotations: null });
    changed("no-cgroup", { cgroup: undefined });
    changed("no-version", { cgroup: { ...cgroup, version: undefined } });
    changed("no-paths", { cgroup: { ...cgroup, paths: "x" } });
    changed("v2", { cgroup: freezes("v2", "0\n") });
    changed("v2-frozen", { cgroup: freezes("v2-frozen", "1\n") });
    changed("v2-gone", { cgroup: { ...cgroup, version: 2, paths: ["/no/such/cgroup"] } });
    put("other-order", JSON.stringify(Object.fromEntries(Object.entries({ ...sound, id: "other-order" }).reverse()), null, 2));
    put("twice", text.replace(`"id":"${name}"`, '"id":"twice"').replace('"owner":0', '"owner":0,"owner":1'));
    put("cut", text.slice(0, 200));
    put("empty", "");
    put("latin", Buffer.from(`${text.slice(0, -1)}\xff}`, "latin1"));
    mkdirSync(join(odd, "no-record"));
    symlinkSync("running", join(odd, "link"));

    const expected = (await entries(odd)).map(({ id: of, status, pid, bundle: path, owner, error }) =>
      status === "unreadable" ? [of, "-", status, error, "-"] : [of, String(pid), status, (path ?? "").replaceAll("\t", "\\t"), owner],
    );
    expect((await rows(odd)).map(([of, pid, status, path, , owner]) => [of, pid, status, path, owner])).toEqual(expected);
    expect(new Set(expected.map(([, , status]) => status))).toEqual(new Set(["running", "stopped", "paused", "unreadable"]));
    rmSync(odd, { recursive: true });
    await until(name, "created");
  });
});
