import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS, parseSettings } from "./settings.ts";

const parse = (value: unknown) => parseSettings(typeof value === "string" ? value : JSON.stringify(value), "vm.json");

describe("the operator's configuration", () => {
  it("is complete without any setting", () => {
    expect(parse({})).toEqual(DEFAULT_SETTINGS);
  });

  it("takes paths, numbers and lists", () => {
    const allow = { images: ["/a"], hypervisors: ["/q"], annotations: ["default_memory"] };
    const given = { image: "/y", user: 100, memoryMiB: 512, allow, console: true, kernelParameters: ["debug"], fileCache: "never" };
    expect(parse(given)).toEqual({ ...DEFAULT_SETTINGS, ...given });
  });

  it.each<[unknown, string]>([
    ["{", "vm.json: not JSON"],
    [[], "vm.json: not an object"],
    [{ imagee: "/x" }, "vm.json: there is no setting imagee"],
    [{ image: "x" }, "vm.json: image has to be an absolute path"],
    [{ hypervisor: 1 }, "vm.json: hypervisor has to be an absolute path"],
    [{ user: 0 }, "vm.json: user has to be a number of at least 1"],
    [{ memoryMiB: 100 }, "vm.json: memoryMiB has to be a number of at least 128"],
    [{ cpusMost: 1.5 }, "vm.json: cpusMost has to be a number of at least 1"],
    [{ allow: { images: "/x" } }, "vm.json: allow.images has to be a list"],
    [{ allow: { images: ["x"] } }, "vm.json: allow.images has to be an absolute path"],
    [{ virtiofsd: "/a=b" }, 'vm.json: virtiofsd has to be a path without "="'],
    [{ allow: { hypervisors: ["/a=b"] } }, 'vm.json: allow.hypervisors has to be a path without "="'],
    [{ allow: { annotation: [] } }, "vm.json: there is no setting allow.annotation"],
    [{ allow: { annotations: [1] } }, "vm.json: allow.annotations has to be a list of texts"],
    [{ own: { cpus: 4 } }, "vm.json: there is no setting own"],
    [{ kernelParameters: "debug" }, "vm.json: kernelParameters has to be a list"],
    [{ kernelParameters: ["rdinit=/x"] }, "vm.json: kernelParameters: rdinit=/x is a parameter that runt decides"],
    [{ fileCache: "none" }, "vm.json: fileCache has to be never, auto, always"],
    [{ accelerator: "xen" }, "vm.json: accelerator has to be auto, tcg, kvm"],
    [{ console: 1 }, "vm.json: console has to be true or false"],
  ])("refuses %j", (value, message) => {
    expect(() => parse(value)).toThrow(message);
  });
});
