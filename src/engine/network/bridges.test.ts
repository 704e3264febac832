import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Attachment, Attachments } from "./attachments.ts";
import { Bridges } from "./bridges.ts";

/** In the place of ip(8): it notes what it was asked to remove, and takes a moment. There are bridges, and an interface of another kind that has the name of one. */
function noting(): () => string[] {
  const directory = mkdtempSync(join(tmpdir(), "runt-bridges-"));
  const log = join(directory, "log");
  writeFileSync(log, "");
  writeFileSync(
    join(directory, "ip"),
    `#!/bin/sh\nsleep 0.1\ncase "$*" in *show*) printf "3: rt-one: <UP>\\n4: rt-two: <UP>\\n" ;; *) echo "$@" >> ${log} ;; esac\n`,
  );
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

test("an interface that is no bridge is somebody else's, whatever its name is: it stays, and what the bridge had goes", async () => {
  const asked = noting();
  const removed: string[] = [];
  const own = attachment("a", "rt-other");
  const bridges = new Bridges({ all: () => [own] } as unknown as Attachments, 10_000, async (name) => void removed.push(name));
  await bridges.leave(own);
  expect([asked(), removed]).toEqual([[""], ["rt-other"]]);
});
