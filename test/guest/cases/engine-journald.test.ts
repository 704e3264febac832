/** Logs of the driver journald, as journalctl shows them (E51). */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { http, until } from "../../engine/requests.ts";
import { useEngine } from "../../engine/support.ts";
import { taskText } from "../../engine/tasks.ts";
import { systemdRuns } from "../../support/systemd.ts";

const run = promisify(execFile);

interface Entry {
  readonly MESSAGE: string;
  readonly PRIORITY: string;
}

describe.skipIf(!systemdRuns)("logs in systemd's journal (needs the guest)", () => {
  const scene = useEngine();
  const entries = async (): Promise<Entry[]> => {
    const { stdout } = await run("journalctl", ["--identifier", "journaled/app", "--output", "json"]);
    return stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };

  test("E51: each line of both streams is in the journal by the name of its container, with its priority; a daemon that is killed sends the rest once", async () => {
    const first = await scene.daemon();
    const script = "echo out; echo bad >&2; sleep 1; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo later; exec sleep 1000";
    const container = { name: "app", script, fields: { stopSignal: "SIGKILL", log: { driver: "journald" } } };
    await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "journaled", [container]) });
    await until(async () => (await entries()).length === 2);
    expect((await entries()).map(({ MESSAGE, PRIORITY }) => `${PRIORITY} ${MESSAGE}`).sort()).toEqual(["3 bad", "6 out"]);
    await first.kill();
    const { pid } = scene.list()[0]!;
    await run("touch", [`/proc/${pid}/root/tmp/go`]);
    await scene.daemon();
    await until(async () => (await entries()).length >= 3);
    expect((await entries()).slice(2).map(({ MESSAGE }) => MESSAGE)).toEqual(["later"]);
    expect((await scene.ctl("delete", "journaled")).status).toBe(0);
  });
});
