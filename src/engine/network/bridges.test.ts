import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Attachment, Attachments } from "./attachments.ts";
import { Bridges } from "./bridges.ts";

/** In the place of ip(8): it notes what it was asked for, and takes a moment. */
function noting(): () => string[] {
  const directory = mkdtempSync(join(tmpdir(), "runt-bridges-"));
  const log = join(directory, "log");
  writeFileSync(log, "");
  writeFileSync(join(directory, "ip"), `#!/bin/sh\nsleep 0.1\necho "$@" >> ${log}\n`);
  chmodSync(join(directory, "ip"), 0o755);
  const before = process.env["PATH"];
  process.env["PATH"] = `${directory}:${before}`;
  onTestFinished(() => {
    process.env["PATH"] = before;
    rmSync(directory, { recursive: true });
  });
  return () => readFileSync(log, "utf8").trim().split("\n");
}

function attachment(containerId: string, bridge: string): Attachment {
  const steps = [{ name: "n", interface: "eth0", plugins: [{ type: "bridge", bridge }], needsAddress: true }];
  return { containerId, bootId: "b", namespace: "/n", steps, results: null } as unknown as Attachment;
}

test("E71: of two tasks that leave a bridge at once the second one removes it, once; one that stays keeps it", async () => {
  const asked = noting();
  const [a, b, c, stays] = [attachment("a", "rt-one"), attachment("b", "rt-one"), attachment("c", "rt-two"), attachment("stays", "rt-two")];
  const all = new Set([a, b, c, stays]);
  const bridges = new Bridges({ all: () => [...all] } as unknown as Attachments, 10_000, async () => {});
  await Promise.all([a, b, c].map((one) => bridges.leave(one)));
  expect(asked()).toEqual(["link delete rt-one"]);
  for (const one of [a, b, c]) {
    all.delete(one);
    bridges.left(one.containerId);
  }
  await bridges.leave(stays);
  expect(asked()).toEqual(["link delete rt-one", "link delete rt-two"]);
});
