import { describe, expect, it } from "vitest";
import { parseMountinfo } from "../../shared/linux/index.ts";
import { requireReadableNames, requireReadableTable } from "./external-names.ts";

/** What criu 3.0 to 4.2 does: one text a mount, found by the beginning of it (criu/mount.c, criu/external.c). */
function lookup(mounts: readonly { key: string; value: string }[], name: string): string | undefined {
  const beginning = `mnt[${name}]`;
  const found = mounts.map(({ key, value }) => `mnt[${key}]:${value}`).find((text) => text.startsWith(`${beginning}:`));
  return found?.slice(beginning.length + 1);
}

const MOUNTS = [
  { key: "/data", value: "/srv/data" },
  { key: "/data]", value: "/srv/bracket" },
  { key: "/a[1]", value: "/srv/[x]" },
  { key: "/with:colon", value: "/srv/with:colon" },
];

describe("names of external mounts", () => {
  it("that criu finds again are taken", () => {
    expect(requireReadableNames(MOUNTS)).toBe(MOUNTS);
    for (const { key, value } of MOUNTS) expect(lookup(MOUNTS, key)).toBe(value);
  });

  it.each(["/data]:/etc", "/]:", "/a]:b/c", "/line\nbreak", "/data\rx", "/data\vx"])("%j is refused, and named", (key) => {
    const mounts = [{ key, value: "/srv/data" }];
    expect(() => requireReadableNames(mounts)).toThrow(`criu cannot keep the mount point ${JSON.stringify(key)}`);
  });

  it("would be split by criu if they were not refused", () => {
    expect(lookup([{ key: "/data]:/etc", value: "/srv/data" }], "/data")).toBe("/etc]:/srv/data");
    expect(lookup([{ key: "/data", value: "/srv]:/etc" }], "/data]:/srv")).toBe("/etc");
  });

  it("a source that would be split is refused as well", () => {
    expect(() => requireReadableNames([{ key: "/data", value: "/srv]:/etc" }])).toThrow('"/data": its source "/srv]:/etc"');
  });
});

it("a mount table with a name that ends early for criu is refused, also where the mount is the container's own", () => {
  const line = (mountpoint: string) => parseMountinfo(`100 99 0:50 / ${mountpoint} rw - tmpfs tmpfs rw\n`);
  expect(() => requireReadableTable(line("/data]:x"))).not.toThrow();
  expect(() => requireReadableTable(line("/data\rrw"))).toThrow('"/data\\rrw"');
  expect(() => requireReadableTable(line("/data\\012x"))).toThrow('"/data\\nx"');
});
