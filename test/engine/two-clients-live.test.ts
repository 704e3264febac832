/** The life of a task by each of the two programs of the client, with a daemon. */
import { describe, expect, test } from "vitest";
import { told } from "./answering.ts";
import { CLIENTS, type Program } from "./client-programs.ts";
import { isRoot, LONGEST_MS, scriptTask, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("both clients (need root)", () => {
  const scene = useEngine();

  /** What is said on the way, without numbers: times, ages, pids and places in the journal. */
  async function life(program: Program, group: string): Promise<string[]> {
    const script = "trap 'echo ends >&2; exit 3' TERM; echo one; echo two >&2; while :; do sleep 0.05; done";
    const file = scene.file("life.yaml", scriptTask(scene.rootfs(), { name: "life", script }));
    const once = scene.file("once.yaml", scriptTask(scene.rootfs(), { name: "once", script: "echo once; exit 5" }));
    const lines: string[] = [];
    for (const line of [
      ...[
        `apply -f ${file} --wait --timeout 2m`,
        `apply -f ${file}`,
        "get",
        "get -o name",
        "get life -o json",
        "logs life",
        "logs life -c main -n 1",
      ],
      ...[
        "restart none",
        "plan -f /dev/null",
        `plan -f ${file} --exit-code`,
        "stop life",
        "logs life -f",
        "get life -o wide",
        "events life",
      ],
      ...[`apply -f ${once}`, "logs once -f", "delete life once", "delete life", "get", "events -A"],
    ]) {
      const { status, stdout, stderr } = await told(program, ["-s", scene.socket, "-g", group, ...line.split(" ")]);
      lines.push(`${line}: ${status}`, ...stdout.split("\n"), ...stderr.split("\n"));
    }
    return lines.map((line) =>
      line
        .replaceAll(/[0-9a-f]{8,}|\d+/g, "N")
        .replaceAll(/ +/g, " ")
        .replaceAll(group, "GROUP"),
    );
  }

  test(
    "say the same of the life of a task",
    async () => {
      await scene.daemon();
      const native = await life(CLIENTS.native, "first");
      const node = await life(CLIENTS.node, "other");
      // The events of the first are seen by the second, too.
      const own = (lines: readonly string[]) => lines.slice(0, lines.indexOf("events -A: N"));
      expect(own(native)).toEqual(own(node));
      expect(native).toContain("task life is ready");
      expect(native.length).toBeGreaterThan(80);
    },
    LONGEST_MS,
  );
});
