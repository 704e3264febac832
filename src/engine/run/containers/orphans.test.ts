/** Containers that the runtime knows and the store does not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Paths } from "../paths.ts";
import { SpecCopies } from "../resources/spec-copies.ts";
import { ANNOTATION } from "./launching.ts";
import { adoptionOf, orphansAmong } from "./orphans.ts";

const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const ours = { [ANNOTATION.task]: "g.web.7", [ANNOTATION.group]: "g", [ANNOTATION.container]: "app", [ANNOTATION.generation]: "1" };
const present = [
  { id: "g.web.7.app-1.1", isRunning: true, isUnknown: false, annotations: ours },
  { id: "foreign", isRunning: true, isUnknown: false, annotations: {} },
  { id: "half", isRunning: true, isUnknown: false, annotations: { [ANNOTATION.task]: "g.web.7" } },
];

test.each(["show", "adopt", "stop"] as const)(
  "E27 containers that are of no task are left alone, whatever is done with orphans: %s",
  (policy) => {
    const directory = mkdtempSync(join(tmpdir(), "runt-orphans-"));
    try {
      const orphans = orphansAmong(present, new Set());
      expect(orphans.map(({ id, task }) => [id, task])).toEqual([
        ["g.web.7.app-1.1", "g.web.7"],
        ["foreign", null],
        ["half", null],
      ]);
      const specCopies = new SpecCopies(new Paths(directory, undefined));
      const { records, strays, revision } = adoptionOf(orphans, [], { policy, specCopies, at });
      expect([records, strays.map(({ id }) => id), revision]).toEqual([[], policy === "stop" ? ["g.web.7.app-1.1"] : [], 7]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
