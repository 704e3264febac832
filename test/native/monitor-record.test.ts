/** The monitor's exit record: what is in the file, and what becomes of output that nobody reads. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HELPER, HELPER_ASAN } from "../support/helper.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const WATCH = join(import.meta.dirname, "../../build/test/watch");

describe.each([
  ["as built", HELPER],
  ["sanitized", HELPER_ASAN],
])("exit record: %s", (_, helper) => {
  let directory: string;
  let state: string;
  let record: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "runt-record-"));
    record = join(directory, "record");
    state = join(directory, "state");
    mkdirSync(state);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const env = { ...process.env, ASAN_OPTIONS: "detect_leaks=0" };
  function run(script: string, rest: readonly string[] = [], steps: readonly string[] = [], redirect = ""): number | null {
    const words = [
      WATCH,
      helper,
      "/bin/sh",
      "-c",
      script,
      "--",
      "/bin/true",
      "--state",
      state,
      "--record",
      record,
      "--record-text",
      '{"id":"x"',
      "--record-fd",
      record,
      ...rest,
      ...steps,
      "--",
      "unused",
    ];
    const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    return spawnSync("sh", ["-c", `${quoted} ${redirect}`], { env, timeout: PATIENCE_MS }).status;
  }
  const read = () => JSON.parse(readFileSync(record, "utf8")) as Record<string, unknown>;

  test("code, signal and time; exited when everything is removed", () => {
    const before = Date.now();
    expect(run("exit 7")).toBe(7);
    expect(read()).toEqual({ id: "x", phase: "exited", code: 7, signal: null, oomKills: 0, endedMs: expect.any(Number) });
    expect(read()["endedMs"]).toBeGreaterThanOrEqual(before);
    expect(read()["endedMs"]).toBeLessThanOrEqual(Date.now());
    run("kill -15 $$");
    expect(read()).toMatchObject({ code: 143, signal: 15 });
    expect(readdirSync(directory).sort()).toEqual(["record", "state"]);
  });

  test("ended, and not exited, when the clean-up fails", () => {
    const words = (executable: string) => [
      WATCH,
      helper,
      "/bin/sh",
      "-c",
      "exit 3",
      "--",
      executable,
      "--state",
      state,
      "--record",
      record,
      "--record-text",
      '{"id":"x"',
      "--record-fd",
      record,
      "--",
      "unused",
    ];
    for (const [executable, phase] of [
      ["/bin/false", "ended"],
      ["/bin/true", "exited"],
    ] as const) {
      const [file = "", ...args] = words(executable);
      expect(spawnSync(file, args, { env, timeout: PATIENCE_MS }).status).toBe(3);
      expect(read()).toMatchObject({ phase, code: 3 });
    }
  });

  test.each([
    ["oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", "0", 5],
    ["low 0\noom 9\noom_kill 5\noom_group_kill 1\n", "2", 3],
    ["oom_kill 1\n", "4", 0],
    ["oom_kills 1\n", "0", 0],
    ["", "0", 0],
  ])("kills for memory: %j before %s is %i", (text, before, kills) => {
    writeFileSync(join(directory, "events"), text);
    run("exit 0", ["--oom", join(directory, "events"), "--oom-before", before]);
    expect(read()["oomKills"]).toBe(kills);
  });

  test("a missing file of events is no kill; a bad number is refused", () => {
    run("exit 0", ["--oom", join(directory, "absent"), "--oom-before", "0"]);
    expect(read()["oomKills"]).toBe(0);
    rmSync(record);
    expect(run("exit 0", ["--oom", join(directory, "absent"), "--oom-before", "x"])).toBe(2);
    expect(readFileSync(record, "utf8")).toBe("");
  });

  test("a record that does not fit is not cut off", () => {
    const long = `{"id":"${"y".repeat(9000)}"`;
    const result = spawnSync(
      WATCH,
      [
        helper,
        "/bin/sh",
        "-c",
        "exit 4",
        "--",
        "/bin/true",
        "--state",
        state,
        "--record",
        record,
        "--record-text",
        long,
        "--record-fd",
        record,
        "--",
        "unused",
      ],
      {
        env,
      },
    );
    expect(result.status).toBe(4);
    expect(readFileSync(record, "utf8")).toBe("");
  });

  test("what is in a FIFO without a reader is saved, whole", () => {
    spawnSync("mkfifo", [join(directory, "out"), join(directory, "err")]);
    // The shell that holds the reading ends is gone before the program ends.
    // Its own standard streams are no FIFOs any more when the monitor holds their reading ends.
    const held = "[ $(readlink /proc/$PPID/fd/1) = /dev/null ]";
    const script = `until [ -e ${directory}/gone ] && ${held}; do sleep 0.02; done; head -c 60000 /dev/zero | tr '\\0' x; echo problem >&2`;
    const redirect = `1>${directory}/out 2>${directory}/err & exec 8<${directory}/out 9<${directory}/err; exec 8<&- 9<&-; : >${directory}/gone; wait`;
    run(script, [], [], redirect);
    expect(read()).toMatchObject({ phase: "exited", code: 0 });
    expect(readFileSync(`${record}.stdout`, "utf8")).toBe("x".repeat(60_000));
    expect(readFileSync(`${record}.stderr`, "utf8")).toBe("problem\n");
  });

  test("what has a reader is left to it", () => {
    spawnSync("mkfifo", [join(directory, "out")]);
    run("echo mine", [], [], `1>${directory}/out 2>/dev/null & cat ${directory}/out > ${directory}/got; wait`);
    expect(readFileSync(join(directory, "got"), "utf8")).toBe("mine\n");
    expect(existsSync(`${record}.stdout`)).toBe(false);
  });
});
