import { describe, expect, it } from "vitest";
import { deriveConfig } from "../../config/index.ts";
import type { SpecIdMapping } from "../../spec/index.ts";
import { compile } from "./index.ts";

const MAP: SpecIdMapping = { containerID: 0, hostID: 100_000, size: 65_536 };

function mapOps(path: string | undefined, uidMappings: SpecIdMapping[], gidMappings: SpecIdMapping[]) {
  const linux = { namespaces: [{ type: "user", path }], uidMappings, gidMappings };
  const config = deriveConfig({ ociVersion: "1.3.0", root: { path: "r" }, linux }, { bundle: "/b" });
  const host = { stateDirectory: "/run/runt/c", rootless: false, cgroupVersion: 2, cgroupSources: [] } as const;
  const invocation = { id: "c", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0 } as const;
  return compile({ config, host, invocation }).ops.filter(({ op }) => op.startsWith("idmap.") || op === "sync.wait");
}

describe("the maps of a user namespace", () => {
  it("are written for a new one", () => {
    const [, write] = mapOps(undefined, [MAP], [MAP]);
    expect(write).toMatchObject({ op: "idmap.write", args: { uidMap: [0, 100_000, 65_536], setgroups: true } });
  });

  it("are compared for a joined one, once init is in it", () => {
    const [wait, verify] = mapOps("/ns", [MAP], []);
    expect(wait?.op).toBe("sync.wait");
    expect(verify).toMatchObject({ op: "idmap.verify", args: { uidMap: [0, 100_000, 65_536], gidMap: [] }, from: "/linux/uidMappings" });
  });

  it.each<[string, SpecIdMapping[]]>([
    ["there are none", []],
    ["they are Podman's placeholder", [{ containerID: 0, hostID: 0, size: 1 }]],
  ])("are not compared when %s", (_, maps) => {
    expect(mapOps("/ns", maps, maps).map(({ op }) => op)).not.toContain("idmap.verify");
  });
});
