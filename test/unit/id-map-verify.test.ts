import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verifyIdMaps } from "../../src/runtime/execute/id-map-write.ts";

/** Of this process. */
const own = (kind: "uid" | "gid") => readFileSync(`/proc/self/${kind}_map`, "utf8").trim().split(/\s+/).map(Number);
const verify = (uidMap: number[], gidMap: number[]) => verifyIdMaps(process.pid, { uidMap, gidMap });

describe("the maps of a joined user namespace", () => {
  it("may be named as they are", () => {
    verify(own("uid"), own("gid"));
  });

  it.each([
    ["uid", [0, 12_345, 1], own("gid")],
    ["uid", [], own("gid")],
    ["gid", own("uid"), [...own("gid"), 0, 12_345, 1]],
  ] as const)("%sMappings that differ are refused", (kind, uidMap, gidMap) => {
    expect(() => verify([...uidMap], [...gidMap])).toThrow(
      expect.objectContaining({
        code: "config-invalid",
        message: `linux.${kind}Mappings: the user namespace that is joined has others: ${own(kind).join(" ")}`,
        details: { pointer: `/linux/${kind}Mappings`, hint: "leave them out" },
      }),
    );
  });
});
