import { describe, expect, it } from "vitest";
import { decodePlan } from "../../src/runtime/plan/wire.ts";
import { init, intermediate, packPlan } from "../support/pack.ts";

const bytesOf = (buffer: Buffer): ArrayBuffer =>
  buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength) as ArrayBuffer;
const decodeText = (bytes: ArrayBuffer, offset: number, length: number) => Buffer.from(bytes, offset, length).toString();

describe("decodePlan", () => {
  const plan = packPlan([
    intermediate("mount.open", { source: "/srv/dätä", recursive: true, slot: 5 }),
    init("capability.bounding", { mask: 1n << 40n }),
    init("process.exec", { args: ["/bin/sh", "-c", ""], env: ["A=1"] }),
    init("process.user", { uid: 1, gid: 2, groups: [3, 4], setgroups: true }),
  ]);

  it("gives back what was encoded", () => {
    expect(decodePlan(bytesOf(plan), decodeText)).toEqual([
      { index: 0, actor: "intermediate", op: "mount.open", args: { source: "/srv/dätä", recursive: true, slot: 5 } },
      { index: 1, actor: "init", op: "capability.bounding", args: { mask: 1n << 40n } },
      { index: 2, actor: "init", op: "process.exec", args: { args: ["/bin/sh", "-c", ""], env: ["A=1"] } },
      { index: 3, actor: "init", op: "process.user", args: { uid: 1, gid: 2, groups: [3, 4], setgroups: true } },
    ]);
  });

  it("says nothing of what is no plan, and what it can of one that is cut off", () => {
    expect(decodePlan(new ArrayBuffer(0), decodeText)).toEqual([]);
    expect(decodePlan(new ArrayBuffer(64), decodeText)).toEqual([]);
    expect(decodePlan(bytesOf(plan.subarray(0, plan.length - 1)), decodeText).length).toBeLessThan(4);
  });
});
