/** The plans of the sample bundles, as text: a change of a plan is a change somebody has read. Renew with `vitest run -u`. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { cgroupSources, compileCgroup, resolveCgroup } from "../../src/runtime/cgroup/index.ts";
import { deriveConfig } from "../../src/runtime/config/index.ts";
import { type CompileHost, compile, type Invocation, type Plan } from "../../src/runtime/plan/index.ts";
import { parseSpec } from "../../src/runtime/spec/index.ts";
import { explained } from "../support/explained.ts";
import { HYBRID_HOST, LEGACY_HOST, UNIFIED_HOST } from "../support/hosts.ts";

const BUNDLES = resolve(import.meta.dirname, "../../bundles");
const names = readdirSync(BUNDLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

const INVOCATION: Invocation = { id: "golden", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0 };

function planOf(name: string, facts: typeof HYBRID_HOST, invocation: Partial<Invocation> = {}): Plan {
  const spec = parseSpec(readFileSync(join(BUNDLES, name, "config.json"), "utf8"), true);
  const config = deriveConfig(spec, { bundle: `/bundles/${name}` });
  const path = resolveCgroup(config.cgroupsPath, "golden");
  const steps = compileCgroup(facts, path, config.resources, { rootless: false });
  const host: CompileHost = {
    stateDirectory: "/run/runt/golden",
    rootless: false,
    cgroupVersion: facts.version,
    cgroupSources: cgroupSources(facts, path),
    cgroup: steps,
  };
  const console = config.process?.terminal ? { consoleSocket: "/run/console.sock" } : {};
  return compile({ config, host, invocation: { ...INVOCATION, ...console, ...invocation } });
}

describe.each(names)("bundle %s", (name) => {
  it("has the golden plan on a host with cgroup v1", async () => {
    await expect(explained(planOf(name, LEGACY_HOST))).toMatchFileSnapshot(`../golden/${name}.v1.plan`);
  });

  it("has the golden plan on a host with cgroup v2", async () => {
    await expect(explained(planOf(name, UNIFIED_HOST))).toMatchFileSnapshot(`../golden/${name}.v2.plan`);
  });
});

it("has the golden plan on a hybrid host", async () => {
  await expect(explained(planOf("hello", HYBRID_HOST))).toMatchFileSnapshot("../golden/hello.hybrid.plan");
});

describe("every plan", () => {
  const plans = names.flatMap((name) => [
    planOf(name, LEGACY_HOST),
    planOf(name, HYBRID_HOST),
    planOf(name, UNIFIED_HOST),
    planOf(name, UNIFIED_HOST, { mode: "run" }),
  ]);

  it("sends ready after everything that can fail before execve", () => {
    for (const plan of plans) {
      const init = plan.ops.filter(({ actor }) => actor === "init").map(({ op }) => op);
      const after = init.slice(init.indexOf("sync.send") + 1);
      expect(after.filter((op) => !["sync.wait", "process.deathSignal", "process.wait", "process.exec"].includes(op))).toEqual([]);
    }
  });

  it("makes an intent record before any other effect", () => {
    // The helper may start before, in namespaces of its own; it waits for what is made on the host.
    for (const plan of plans) expect(plan.ops.find(({ op }) => op !== "helper.spawn")?.op).toBe("state.intent");
  });

  it("uses every slot once it is opened, and no other", () => {
    for (const plan of plans)
      for (const { args } of plan.ops) if ("slot" in args && args.slot !== 0xffff_ffff) expect(args.slot).toBeLessThan(plan.slots);
  });
});
