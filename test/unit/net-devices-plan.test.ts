/** Where network devices stand in a plan. */
import { expect, it } from "vitest";
import { cgroupSources } from "../../src/runtime/cgroup/index.ts";
import { deriveConfig } from "../../src/runtime/config/index.ts";
import { compile, type Op, printPlan } from "../../src/runtime/plan/index.ts";
import type { Spec } from "../../src/runtime/spec/index.ts";
import { HYBRID_HOST } from "../support/hosts.ts";

function plan(linux: Spec["linux"]) {
  const hook = [{ path: "/h" }];
  const spec: Spec = { ociVersion: "1.3.0", root: { path: "r" }, process: { cwd: "/", args: ["sh"] }, hooks: { prestart: hook }, linux };
  return compile({
    config: deriveConfig(spec, { bundle: "/b" }),
    host: { stateDirectory: "/run/runt/c", rootless: false, cgroupVersion: 1, cgroupSources: cgroupSources(HYBRID_HOST, "/c") },
    invocation: { id: "c", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0 },
  });
}
const names = (ops: readonly Op[]) => ops.map(({ actor, op }) => `${actor} ${op}`);
const mount = { type: "mount" };

it("are moved when init is in its namespaces, before it goes on", () => {
  const namespaces = [mount, { type: "network" }, { type: "user" }];
  const netDevices = { eth1: { name: "net%d" }, eth2: {} };
  const made = plan({ namespaces, netDevices, sysctl: { "net.ipv4.conf.eth2.forwarding": "1" } });
  const ops = names(made.ops);
  const at = ops.indexOf("runtime netdevice.move");
  expect(ops.slice(at - 1, at + 4)).toEqual([
    "runtime idmap.write",
    "runtime netdevice.move",
    "runtime netdevice.move",
    "runtime sync.send",
    "init sync.wait",
  ]);
  expect(at).toBeGreaterThan(ops.indexOf("runtime sync.wait"));
  for (const later of ["init loopback.up", "runtime hook.run", "init sysctl.write"]) expect(ops.indexOf(later)).toBeGreaterThan(at);
  expect(made.ops.slice(at, at + 2).map(({ args, from }) => [from, args])).toEqual([
    ["/linux/netDevices/eth1", { device: "eth1", name: "net%d", namespace: "" }],
    ["/linux/netDevices/eth2", { device: "eth2", name: "eth2", namespace: "" }],
  ]);
});

it("make init wait without a user namespace too, and remember a joined namespace", () => {
  const made = plan({ namespaces: [mount, { type: "network", path: "/run/netns/x" }], netDevices: { eth1: {} } });
  const ops = names(made.ops);
  const at = ops.indexOf("runtime netdevice.move");
  expect(ops.slice(at, at + 3)).toEqual(["runtime netdevice.move", "runtime sync.send", "init sync.wait"]);
  expect(printPlan(made)).toMatch(/netdevice\.move +eth1, and back by \/run\/netns\/x +\/linux\/netDevices\/eth1/);
});

it("cost nothing where there are none", () => {
  const namespaces = [mount, { type: "network" }];
  expect(names(plan({ namespaces, netDevices: {} }).ops)).toEqual(names(plan({ namespaces }).ops));
  expect(plan({ namespaces }).ops.filter(({ op }) => op === "sync.send").length).toBe(
    plan({ namespaces, netDevices: { a: {} } }).ops.filter(({ op }) => op === "sync.send").length - 1,
  );
});
