/** Plans of containers whose cgroup systemd makes, as text. Renew with `vitest run -u`. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CgroupHierarchies, cgroupSources } from "../../src/runtime/cgroup/index.ts";
import { compileUnit, type SystemdFacts } from "../../src/runtime/cgroup/systemd/compile/index.ts";
import { deriveConfig } from "../../src/runtime/config/index.ts";
import type { ContainerConfig } from "../../src/runtime/config/types.ts";
import { compile, compileExec, type Plan } from "../../src/runtime/plan/index.ts";
import { MESSAGES } from "../../src/shared/protocol/index.ts";
import { explained } from "../support/explained.ts";
import { HYBRID_HOST, UNIFIED_HOST } from "../support/hosts.ts";
import { REPOSITORY } from "../support/programs.ts";

const SYSTEMD: SystemdFacts = { socket: "/run/systemd/private", direct: true, version: () => 252, root: "", user: false };

function planOf(facts: CgroupHierarchies, change: (config: ContainerConfig) => ContainerConfig = (config) => config): Plan {
  const spec = JSON.parse(readFileSync(join(REPOSITORY, "bundles/limited/config.json"), "utf8"));
  spec.linux.cgroupsPath = "machine.slice:runt:golden";
  const config = change(deriveConfig(spec, { bundle: "/bundles/limited" }));
  const { resources, annotations, cgroupsPath } = config;
  const { path, steps } = compileUnit(facts, SYSTEMD, { id: "golden", cgroupsPath, resources, annotations, rootless: false });
  return compile({
    config,
    host: {
      stateDirectory: "/run/runt/golden",
      rootless: false,
      cgroupVersion: facts.version,
      cgroupSources: cgroupSources(facts, path),
      cgroup: steps,
    },
    invocation: { id: "golden", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0 },
  });
}

const withUserNamespace = (config: ContainerConfig): ContainerConfig => ({
  ...config,
  namespaces: [...config.namespaces.filter(({ type }) => type !== "cgroup"), { type: "user", from: "" }, { type: "cgroup", from: "" }],
  uidMappings: [{ containerId: 0, hostId: 100_000, size: 65_536 }],
  gidMappings: [{ containerId: 0, hostId: 100_000, size: 65_536 }],
});

/** "actor op" or "actor op message" of every operation. */
function lines({ ops }: Plan): string[] {
  return ops.map(({ actor, op, args }) => {
    const message = Object.entries(MESSAGES).find(([, number]) => "message" in args && number === args.message)?.[0];
    return `${actor} ${op}${message === undefined ? "" : ` ${message}`}`;
  });
}

describe("a container with a unit", () => {
  it("has the golden plan on a host with cgroup v1", async () => {
    await expect(explained(planOf(HYBRID_HOST))).toMatchFileSnapshot("../golden/systemd.v1.plan");
  });

  it("has the golden plan on a host with cgroup v2", async () => {
    await expect(explained(planOf(UNIFIED_HOST))).toMatchFileSnapshot("../golden/systemd.v2.plan");
  });

  it.each([
    ["v1", HYBRID_HOST],
    ["v2", UNIFIED_HOST],
  ])("exists before its unit, and is in it before it makes the cgroup namespace (%s)", (_, facts) => {
    const order = lines(planOf(facts, withUserNamespace));
    const places = [
      "runtime sync.wait pid",
      "runtime idmap.write",
      "runtime systemd.startUnit",
      "runtime cgroup.create",
      "runtime cgroup.write",
      ...(facts.version === 1 ? ["runtime cgroup.attach"] : ["runtime cgroup.devices"]),
      "runtime sync.send cgroup",
      "init sync.wait cgroup",
      "init namespace.unshare",
      "init root.pivot",
    ].map((line) => order.indexOf(line));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(order.filter((line) => /cgroup\.(join|open)/.test(line))).toEqual([]);
  });

  it("lets exec be attached by systemd where the caller may not do it", () => {
    const { process } = deriveConfig(JSON.parse(readFileSync(join(REPOSITORY, "bundles/hello/config.json"), "utf8")), { bundle: "/b" });
    const plan = compileExec({
      process: process!,
      target: { pid: 42, startTime: 1n },
      namespaces: ["user", "pid", "mount"],
      root: "/",
      join: { attach: { unit: "runt-c.scope", path: "/", socket: "/run/user/1000/bus", direct: false } },
      keyring: false,
      invocation: { id: "c", preserveFds: 0, listenFds: 0 },
      host: { stateDirectory: "/run/runt/c", rootless: true, cgroupVersion: 2 },
    });
    const order = lines(plan);
    const places = ["runtime sync.wait pid", "runtime systemd.attach", "init sync.wait cgroup", "init process.becomeRoot"].map((line) =>
      order.indexOf(line),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });
});
