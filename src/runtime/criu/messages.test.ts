import { describe, expect, it } from "vitest";
import { decodeAnswer, encodeAcknowledgement, encodeFeatureCheck, encodeRequest, REQUEST } from "./messages.ts";
import { encodeMessage, type Message } from "./protobuf.ts";

const answer = (message: Message) => decodeAnswer(encodeMessage(message).slice().buffer as ArrayBuffer);
const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const latin = (bytes: Uint8Array) => String.fromCharCode(...bytes);
const BASE = {
  imagesDirectory: 3,
  workDirectory: 4,
  logFile: "dump.log",
  root: "/r",
  externalMounts: [],
  cgroupMode: "soft",
  emptyNamespaces: 0,
} as const;

describe("requests", () => {
  it("are numbers and options", () => {
    expect(hex(encodeRequest(REQUEST.version))).toBe("080a");
    expect(hex(encodeAcknowledgement(true))).toBe("08061801");
    expect(hex(encodeFeatureCheck({ trackMemory: true, lazyPages: false }))).toBe("08092a0408011000");
  });

  it("have what is set, and nothing for what is not", () => {
    const text = latin(encodeRequest(REQUEST.dump, BASE));
    expect(text).toContain("dump.log");
    const more = encodeRequest(REQUEST.dump, { ...BASE, parentImage: "../1", inherit: [{ key: "pipe:[1]", fd: 2 }] });
    expect(latin(more)).toMatch(/\.\.\/1.*pipe:\[1\]/s);
    expect(text).not.toMatch(/pipe/);
  });

  it.each([
    ["ignore", { 24: 0, 34: 0 }],
    ["soft", { 24: 1, 34: 3 }],
    ["strict", { 24: 1, 34: 5 }],
  ] as const)("cgroup mode %s", (cgroupMode, expected) => {
    const all = hex(encodeRequest(REQUEST.dump, { ...BASE, cgroupMode }));
    for (const [field, value] of Object.entries(expected)) expect(all).toContain(hex(encodeMessage({ [field]: value })));
  });
});

describe("answers", () => {
  it("of every kind", () => {
    expect(answer({ 1: 6, 2: true, 5: { 1: "post-restore", 2: 42 } })).toEqual({ type: 6, success: true, script: "post-restore", pid: 42 });
    expect(answer({ 1: 2, 2: true, 4: { 1: 42 } })).toEqual({ type: 2, success: true, pid: 42 });
    expect(answer({ 1: 1, 2: false, 7: 52, 9: "words" })).toEqual({ type: 1, success: false, errno: 52, message: "words" });
    expect(answer({ 1: 10, 2: true, 10: { 1: 3, 2: 17, 4: 1 } }).version).toEqual([3, 17, 1]);
    expect(answer({ 1: 9, 2: true, 8: { 1: true } }).features).toEqual({ trackMemory: true, lazyPages: false });
  });

  it("without a type are none", () => expect(() => answer({ 2: true })).toThrow(RangeError));
});
