import { expect, it } from "vitest";
import { deriveConfig } from "../../config/index.ts";
import { compile } from "../index.ts";

const REC = 0x4000;
const UNBINDABLE = 0x2_0000;
const PRIVATE = 0x4_0000;
const SLAVE = 0x8_0000;
const SHARED = 0x10_0000;

function opsOf(readonly: boolean, linux: object) {
  const config = deriveConfig({ ociVersion: "1.2.0", root: { path: "r", readonly }, linux }, { bundle: "/b" });
  const invocation = { id: "x", mode: "run" as const, noPivot: false, noNewKeyring: true, preserveFds: 0, listenFds: 0 };
  const host = { stateDirectory: "/run/x", rootless: false, cgroupVersion: 1 as const, cgroupSources: [] };
  return compile({ config, invocation, host }).ops;
}

it.each([
  ["", SLAVE | REC, undefined],
  ["slave", SLAVE | REC, SLAVE],
  ["rslave", SLAVE | REC, SLAVE | REC],
  ["private", PRIVATE | REC, PRIVATE],
  ["unbindable", PRIVATE | REC, UNBINDABLE],
  ["runbindable", PRIVATE | REC, UNBINDABLE | REC],
  ["shared", SHARED, SHARED],
  ["rshared", SHARED | REC, SHARED | REC],
])("rootfsPropagation %s: how the namespace starts, and what the root becomes after everything else is mounted", (word, start, end) => {
  const linux = { namespaces: [{ type: "mount" }], rootfsPropagation: word, readonlyPaths: ["/x"], maskedPaths: ["/y"] };
  const ops = opsOf(true, linux);
  expect(ops.find(({ op }) => op === "root.propagation")?.args).toEqual({ flags: start });
  const last = ops.filter(({ phase }) => phase === "pivot").at(-1);
  if (end === undefined) expect(ops.some(({ op }) => op === "root.finalPropagation")).toBe(false);
  else expect(last).toMatchObject({ op: "root.finalPropagation", args: { flags: end } });
});

it("without a mount namespace of its own the root is opened where it is; in somebody else's init binds it to make it read-only", () => {
  const inPlace = (readonly: boolean, namespaces: readonly object[]) =>
    opsOf(readonly, { namespaces }).find(({ op }) => op === "root.open")?.args;
  expect(inPlace(false, [{ type: "mount" }])).toEqual({ path: "/b/r", inPlace: false });
  expect(inPlace(false, [])).toEqual({ path: "/b/r", inPlace: true });
  expect(inPlace(true, [])).toEqual({ path: "/b/r", inPlace: true });
  expect(inPlace(false, [{ type: "mount", path: "/proc/1/ns/mnt" }])).toEqual({ path: "/b/r", inPlace: true });
  expect(inPlace(true, [{ type: "mount", path: "/proc/1/ns/mnt" }])).toEqual({ path: "/b/r", inPlace: false });
});

it("in the caller's mount namespace the runtime binds the root before init is started, if anything is to be mounted", () => {
  const names = (readonly: boolean, linux: object) => opsOf(readonly, linux).map(({ op }) => op);
  const shared = names(true, { namespaces: [] });
  expect(shared.indexOf("root.bind")).toBeGreaterThan(shared.indexOf("state.intent"));
  expect(shared.indexOf("root.bind")).toBeLessThan(shared.indexOf("helper.spawn"));
  expect(names(false, { namespaces: [] })).not.toContain("root.bind");
  for (const namespace of [{ type: "mount" }, { type: "mount", path: "/proc/1/ns/mnt" }])
    expect(names(true, { namespaces: [namespace] })).not.toContain("root.bind");
});
