import { expect, it } from "vitest";
import type { SpecMount } from "../spec/index.ts";
import { type ContainerIds, deriveMountIdMap, type IdMapRequest } from "./mount-idmap.ts";

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
