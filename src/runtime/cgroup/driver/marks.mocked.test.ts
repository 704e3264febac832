import { beforeEach, expect, it, vi } from "vitest";
import type { Visitor } from "../../host/index.ts";

/** Directory -> attributes; and the processes in it. */
const tree = new Map<string, { readonly attributes?: Readonly<Record<string, string>>; readonly processes?: string }>();

vi.mock("../hierarchies.ts", () => ({
  readHierarchies: () => ({ version: 1, hierarchies: [{ mountpoint: "/cpu" }, { mountpoint: "/memory" }] }),
}));
vi.mock("./tree.ts", () => ({
  readIfThere: (file: string) => tree.get(file.replace(/\/cgroup\.procs$/, ""))?.processes,
}));
vi.mock("../../host/index.ts", () => ({
  walk(top: string, { enter, leave }: Visitor) {
    const visit = (path: string, depth: number) => {
      const place = { path, depth, name: () => path };
      if (enter?.(place) === false) return;
      for (const each of tree.keys()) if (each.slice(0, each.lastIndexOf("/")) === path) visit(each, depth + 1);
      leave?.(place);
    };
    visit(top, 0);
  },
  getxattr(path: string, name: string) {
    const value = tree.get(path)?.attributes?.[name];
    if (value === "not UTF-8") throw Object.assign(new Error(), { errno: 84, code: "EILSEQ" });
    return value;
  },
  isErrno: (error: { code?: string }, ...codes: readonly string[]) => codes.includes(error.code ?? ""),
}));

const { findMarked } = await import("./marks.ts");

const mark = (id: string) => ({ "trusted.runt.container": JSON.stringify({ root: "/run/runt", id }) });
const level = { attributes: { "trusted.runt": "1" } };

beforeEach(() => tree.clear());

it("finds containers by the mark in whichever hierarchy has it, and looks no further below", () => {
  tree.set("/cpu/a", { attributes: mark("a") });
  tree.set("/cpu/a/inner", { attributes: mark("inner") });
  tree.set("/memory/a", {});
  tree.set("/memory/b", { attributes: mark("b") });
  const { containers, emptyLevels } = findMarked(false);
  expect(containers.map(({ path, mark: { id } }) => [path, id])).toEqual([
    ["/a", "a"],
    ["/b", "b"],
  ]);
  expect(emptyLevels).toEqual([]);
});

it("finds levels of runt's with nothing but such levels in them, the innermost first", () => {
  for (const path of ["/cpu/empty", "/cpu/empty/below", "/cpu/used", "/cpu/lives", "/cpu/parent"]) tree.set(path, level);
  tree.set("/cpu/used/container", { attributes: mark("c") });
  tree.set("/cpu/lives", { ...level, processes: "12\n" });
  tree.set("/cpu/parent/of-somebody", {});
  expect(findMarked(false).emptyLevels).toEqual(["/cpu/empty/below", "/cpu/empty"]);
});

it.each(["", "1", "null", "{", '{"root":5,"id":"x"}', '{"root":"/r"}', '{"root":"/r","id":"x","kept":"all"}', "not UTF-8"])(
  "takes %j for no mark",
  (value) => {
    tree.set("/cpu/a", { attributes: { "trusted.runt.container": value } });
    expect(findMarked(false)).toEqual({ containers: [], emptyLevels: [] });
  },
);

it("reads marks of users for users only", () => {
  tree.set("/cpu/a", { attributes: { "user.runt.container": JSON.stringify({ root: "/r", id: "a" }) } });
  expect(findMarked(false).containers).toEqual([]);
  expect(findMarked(true).containers).toHaveLength(1);
});
