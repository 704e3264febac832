import { expect, test } from "vitest";
import type { CgroupDriver } from "./contract.ts";
import * as end from "./end/index.ts";
import * as cgroupfs from "./index.ts";

test("cgroupfs is a driver", () => {
  // The types say the most of it: this file does not compile otherwise.
  const driver: CgroupDriver = { ...cgroupfs, ...end };
  const { resolveCgroup, compileCgroup } = driver;
  const facts = { version: 2, hierarchies: [{ mountpoint: "/cg", controllers: ["pids"] }] } as const;
  const resources = { pids: { limit: 3n }, hugepageLimits: [], rdma: {}, unified: {}, devices: [] };
  const steps = compileCgroup(facts, resolveCgroup("", "c1"), resources, { rootless: true });
  expect(steps.writes).toEqual([{ path: "/cg/runt/c1/pids.max", value: "3", from: "/linux/resources/pids/limit" }]);
});
