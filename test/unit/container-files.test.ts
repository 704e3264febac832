import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ExampleFile } from "../../src/runtime/check/catalogue/index.ts";
import { openContainerFiles } from "../../src/runtime/check/host/container-files.ts";
import { exampleView } from "../support/example-host.ts";
import { runsOf } from "../support/runs.ts";

const link = (text: string): ExampleFile => ({ kind: "symlink", text });
const FILES: Readonly<Record<string, ExampleFile>> = {
  "/bundle/rootfs/usr": { kind: "directory" },
  "/bundle/rootfs/usr/bin": { kind: "directory" },
  "/bundle/rootfs/usr/bin/tool": { kind: "file", mode: 0o755 },
  "/bundle/rootfs/sbin": link("usr/bin"),
  "/bundle/rootfs/out": link("/../../../srv"),
  "/bundle/rootfs/up": link("../../.."),
  "/bundle/rootfs/loop": link("/loop"),
  "/bundle/rootfs/run": link("/data"),
  "/srv/data/file": { kind: "file" },
  "/srv/secret": { kind: "file" },
};

function files(...mounts: object[]) {
  const spec = { ociVersion: "1.3.0", root: { path: "rootfs" }, mounts: mounts as { destination: string }[] };
  return openContainerFiles(spec, exampleView({ files: FILES }))!;
}
const where = (path: string, ...mounts: object[]) => {
  const found = files(...mounts).find(path);
  return found.status === "found" ? found.path : found.status;
};
const DATA = { destination: "/data", type: "bind", source: "/srv/data", options: ["rbind"] };

describe("the container's files", () => {
  it.each([
    ["/usr/bin/tool", "/usr/bin/tool"],
    ["/sbin/tool", "/usr/bin/tool"],
    ["/sbin/../bin/tool", "/usr/bin/tool"],
    ["//usr/./bin//", "/usr/bin"],
    ["/nothing", "missing"],
    ["/usr/bin/tool/x", "not-a-directory"],
    ["/loop", "loop"],
    ["/", "/"],
    ["/../../..", "/"],
  ])("%s is %s", (path, expected) => expect(where(path)).toBe(expected));

  it("never leads out of the root filesystem", () => {
    expect(where("/out/secret")).toBe("missing");
    expect(where("/up/srv/secret")).toBe("missing");
    expect(where("/out")).toBe("missing");
  });

  it("has the mounts, the last one on top", () => {
    expect(where("/data/file", DATA)).toBe("/data/file");
    expect(where("/run/file", DATA)).toBe("/data/file");
    expect(where("/data/file", DATA, { destination: "/data", type: "tmpfs" })).toBe("opaque");
    expect(where("/data/file", { destination: "/data", type: "tmpfs" }, DATA)).toBe("/data/file");
    expect(where("/x/y/file", { destination: "/x", type: "tmpfs" }, { ...DATA, destination: "/x/y" })).toBe("/x/y/file");
  });

  it("resolves where a mount goes with what is mounted before it", () => {
    const { destination } = files(DATA, { destination: "/run/sub", type: "tmpfs" });
    expect(destination(1)).toMatchObject({ status: "missing", parent: "/data", name: "sub", layer: { index: 0 } });
  });

  it("is nothing without a root filesystem", () => {
    expect(openContainerFiles({ ociVersion: "1.3.0", root: { path: "nowhere" } }, exampleView({}))).toBeUndefined();
    expect(openContainerFiles({ ociVersion: "1.3.0" }, exampleView({}))).toBeUndefined();
  });

  it("finds the place of each mount as a walk from the root does, however they lie to each other", () => {
    const names = fc.constantFrom("usr", "bin", "tool", "sbin", "run", "data", "file", "new", "up", "loop", "..", ".", "");
    const paths = fc.array(names, { maxLength: 4 }).map((parts) => `/${parts.join("/")}`);
    const kinds = fc.constantFrom<object>(
      { type: "tmpfs" },
      { type: "bind", source: "/srv/data", options: ["rbind"] },
      { type: "bind", source: "/srv/secret", options: ["bind"] },
      { options: ["remount", "ro"] },
    );
    const mounts = fc.tuple(fc.constantFrom("", "", "/usr", "/run", "/new/x"), paths, kinds);
    fc.assert(
      fc.property(fc.array(mounts, { maxLength: 8 }), (drawn) => {
        const all = drawn.map(([above, path, kind]) => ({ destination: `${above}${path}`, ...kind }));
        const { destination } = files(...all);
        for (const [index, mount] of all.entries()) {
          const before = files(...all.slice(0, index));
          expect(withoutTree(destination(index))).toEqual(withoutTree(before.find(mount.destination)));
        }
      }),
      { numRuns: runsOf(2000) },
    );
  });
});

/** Trees are objects of their own in each. */
function withoutTree(place: unknown): unknown {
  return JSON.parse(JSON.stringify(place));
}
