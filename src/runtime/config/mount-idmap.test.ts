import { describe, expect, it } from "vitest";
import type { RuntError } from "../errors/index.ts";
import type { SpecMount } from "../spec/index.ts";
import { type ContainerIds, deriveMountIdMap, type IdMapRequest, parseIdMapOption } from "./mount-idmap.ts";

const MAPPINGS = {
  uidMappings: [{ containerId: 0, hostId: 100_000, size: 65_536 }],
  gidMappings: [{ containerId: 0, hostId: 200_000, size: 65_536 }],
};
const NONE: ContainerIds = { userNamespace: undefined, uidMappings: [], gidMappings: [] };
const NEW: ContainerIds = { userNamespace: { from: "", type: "user" }, ...MAPPINGS };
const JOINED: ContainerIds = { ...NONE, userNamespace: { from: "", type: "user", path: "/proc/7/ns/user" } };

const PLAIN: SpecMount = { destination: "/x", source: "/y" };
const OWN: SpecMount = {
  ...PLAIN,
  uidMappings: [{ containerID: 0, hostID: 7, size: 1 }],
  gidMappings: [{ containerID: 0, hostID: 8, size: 1 }],
};
const OWN_SOURCE = {
  uidMappings: [{ containerId: 0, hostId: 7, size: 1 }],
  gidMappings: [{ containerId: 0, hostId: 8, size: 1 }],
};
const option = (recursive = false, value = ""): IdMapRequest => ({ at: "/mounts/0/options/0", recursive, value });

function derive(mount: SpecMount, request: IdMapRequest | undefined, container: ContainerIds) {
  const codes: string[] = [];
  return { idmap: deriveMountIdMap(mount, request, container, "/mounts/0", (code) => void codes.push(code)), codes };
}

it("maps nothing that nobody asks for", () => {
  expect(derive(PLAIN, undefined, NEW)).toEqual({ idmap: undefined, codes: [] });
  expect(derive({ ...PLAIN, uidMappings: [], gidMappings: null }, undefined, NEW).idmap).toBeUndefined();
});

it("applies mappings of the mount whatever the container's are, and advises to name the option", () => {
  for (const container of [NONE, NEW, JOINED]) {
    expect(derive(OWN, option(), container)).toEqual({ idmap: { recursive: false, source: OWN_SOURCE }, codes: [] });
    expect(derive(OWN, undefined, container)).toEqual({ idmap: { recursive: false, source: OWN_SOURCE }, codes: ["mount-idmap-implied"] });
  }
  expect(derive(OWN, option(true), NONE).idmap).toEqual({ recursive: true, source: OWN_SOURCE });
});

it("lets the fields win over the value of the option, with a warning", () => {
  expect(derive(OWN, option(false, "uids=0-1-1;gids=0-1-1"), NONE)).toEqual({
    idmap: { recursive: false, source: OWN_SOURCE },
    codes: ["mount-idmap-value-ignored"],
  });
});

it("takes the container's mappings, or its joined user namespace", () => {
  expect(derive(PLAIN, option(true), NEW).idmap).toEqual({ recursive: true, source: MAPPINGS });
  expect(derive(PLAIN, option(), JOINED).idmap).toEqual({ recursive: false, source: { path: "/proc/7/ns/user" } });
});

it("takes the option's own mappings", () => {
  expect(derive(PLAIN, option(false, "uids=0-3-1;gids=@0-4-1"), NEW).idmap).toEqual({
    recursive: false,
    source: { uidMappings: [{ containerId: 0, hostId: 3, size: 1 }], gidMappings: [{ containerId: 0, hostId: 200_004, size: 1 }] },
  });
});

it("refuses relative ranges without known mappings, and the word without any", () => {
  expect(() => derive(PLAIN, option(false, "uids=@0-3-1;gids=0-4-1"), JOINED)).toThrow("is relative to a new user namespace");
  expect(() => derive(PLAIN, option(), NONE)).toThrow("id-mapped mounts must have both uid and gid mappings specified");
});

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
