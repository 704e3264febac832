import { describe, expect, it } from "vitest";
import type { Spec } from "../spec/index.ts";
import { differences, effectiveSettings } from "./effective.ts";
import { deriveConfig } from "./index.ts";

const of = (change: Partial<Spec> = {}, bundle = "/b") =>
  effectiveSettings(
    deriveConfig(
      {
        ociVersion: "1.2.0",
        root: { path: "rootfs" },
        process: {
          args: ["sh"],
          cwd: "/",
          user: { uid: 0, gid: 0, additionalGids: [3, 1] },
          env: ["A=1=2", "B=2"],
          capabilities: { bounding: ["CAP_KILL", "CAP_CHOWN"] },
        },
        mounts: [{ destination: "/m", type: "bind", source: "data", options: ["bind", "ro"] }],
        linux: { namespaces: [{ type: "pid" }, { type: "mount" }], resources: { pids: { limit: 5 } } },
        ...change,
      } as Spec,
      { bundle },
    ),
  );

describe("differences of effective settings", () => {
  it("are none between bundles that make equal containers", () => {
    expect(differences(of(), of({}, "/elsewhere"))).toEqual([]);
    const other: Partial<Spec> = {
      root: { path: "./rootfs" },
      process: {
        args: ["sh"],
        cwd: "/",
        user: { uid: 0, gid: 0, additionalGids: [1, 3] },
        env: ["B=2", "A=1=2"],
        capabilities: { bounding: ["CAP_CHOWN", "CAP_KILL"] },
      },
      linux: { namespaces: [{ type: "mount" }, { type: "pid" }], resources: { pids: { limit: 5n } } },
    } as Partial<Spec>;
    expect(differences(of(), of(other))).toEqual([]);
  });

  it("name each setting once, with both values", () => {
    const changed: Partial<Spec> = {
      hostname: "h",
      process: {
        args: ["sh"],
        cwd: "/",
        user: { uid: 0, gid: 0, additionalGids: [3, 1] },
        env: ["A=1=2", "B=3"],
        capabilities: { bounding: ["CAP_KILL"] },
      },
      mounts: [],
      linux: { namespaces: [{ type: "pid", path: "/proc/1/ns/pid" }, { type: "mount" }], resources: { pids: { limit: 6 } } },
    } as Partial<Spec>;
    expect(differences(of(), of(changed)).map(({ setting, before, after }) => [setting, before, after])).toEqual([
      ["capability bounding CAP_CHOWN", "yes", undefined],
      ["env B", "2", "3"],
      ["hostname", undefined, "h"],
      ["mount /m", expect.stringContaining("BUNDLE/data"), undefined],
      ["namespace pid", "new", "/proc/1/ns/pid"],
      ["resources.pids.limit", '"5"', '"6"'],
    ]);
  });

  it("name the type and the source of a mount, and each option that is new or gone", () => {
    const mount = (type: string, source: string, options: string[]) =>
      of({ mounts: [{ destination: "/m", type, source, options }] } as Partial<Spec>);
    const before = mount("bind", "data", ["bind", "ro", "nosuid"]);
    expect(differences(before, mount("bind", "data", ["bind", "nosuid", "nodev"]))).toEqual([
      {
        setting: "mount /m",
        before: "bind from BUNDLE/data (bind, ro, nosuid)",
        after: "bind from BUNDLE/data (bind, nosuid, nodev)",
        words: ["+nodev", "-ro"],
      },
    ]);
    expect(differences(before, mount("bind", "other", ["bind", "ro", "nosuid"]))).toEqual([
      { setting: "mount /m", before: "bind from BUNDLE/data (bind, ro, nosuid)", after: "bind from BUNDLE/other (bind, ro, nosuid)" },
    ]);
    expect(differences(before, of({ mounts: [] } as Partial<Spec>))).toEqual([
      { setting: "mount /m", before: "bind from BUNDLE/data (bind, ro, nosuid)" },
    ]);
    expect(differences(before, mount("bind", "data", ["ro", "bind", "nosuid"]))).toEqual([]);
  });
});
