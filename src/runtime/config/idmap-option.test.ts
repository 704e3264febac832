import { describe, expect, it } from "vitest";
import type { RuntError } from "../errors/index.ts";
import { parseIdMapOption } from "./idmap-option.ts";

const AT = "/mounts/0/options/1";
const CONTAINER = {
  uidMappings: [
    { containerId: 0, hostId: 0, size: 1 },
    { containerId: 1, hostId: 2, size: 1000 },
  ],
  gidMappings: [{ containerId: 0, hostId: 5000, size: 100 }],
};

const map = (containerId: number, hostId: number, size: number) => ({ containerId, hostId, size });

describe("parseIdMapOption", () => {
  it("reads ranges of users and groups, in either order", () => {
    const expected = { uidMappings: [map(0, 1, 10), map(10, 11, 10)], gidMappings: [map(0, 100, 10)] };
    expect(parseIdMapOption("uids=0-1-10#10-11-10;gids=0-100-10", undefined, AT)).toEqual(expected);
    expect(parseIdMapOption("gids=0-100-10;uids=0-1-10#10-11-10", undefined, AT)).toEqual(expected);
  });

  it("takes the host side of a range with @ through the container's mappings (the example of crun(1))", () => {
    expect(parseIdMapOption("uids=@1-3-10#7-7-1;gids=@0-10-5", CONTAINER, AT)).toEqual({
      uidMappings: [map(1, 4, 10), map(7, 7, 1)],
      gidMappings: [map(0, 5010, 5)],
    });
  });

  it.each([
    ["uids=0-1-10", "needs both uids and gids"],
    ["gids=0-1-10", "needs both uids and gids"],
    ["uids=;gids=0-1-1", "is not a range"],
    ["uids=0-1;gids=0-1-1", "is not a range"],
    ["uids=0-1-0;gids=0-1-1", "is not a range"],
    ["uids=0-1-x;gids=0-1-1", "is not a range"],
    ["uids=-1-1-1;gids=0-1-1", "is not a range"],
    ["uids=0-4294967295-2;gids=0-1-1", "is not a range"],
    ["uids=0-1-1#;gids=0-1-1", "is not a range"],
    ["users=0-1-1", "is neither uids=... nor gids=..."],
    ["uids=0-1-1;gids=0-1-1;", "is neither"],
    ["uids=@0-1-1;gids=0-1-1", "is relative to a new user namespace, and there is none"],
  ])("refuses %s", (value, why) => {
    expect(() => parseIdMapOption(value, undefined, AT)).toThrow(
      expect.objectContaining({
        code: "config-invalid",
        message: expect.stringContaining(why),
        details: { pointer: AT, finding: "mount-idmap" },
      }) as RuntError,
    );
  });

  it.each(["uids=@0-2000-1;gids=0-1-1", "uids=@0-0-2;gids=0-1-1", "uids=0-0-1;gids=@0-99-2"])(
    "refuses %s outside the mappings",
    (value) => {
      expect(() => parseIdMapOption(value, CONTAINER, AT)).toThrow("is not within one range of the container's mappings");
    },
  );
});
