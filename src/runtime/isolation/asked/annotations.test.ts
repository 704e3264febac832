import { describe, expect, it } from "vitest";
import { KATA_ANNOTATIONS } from "../../config/index.ts";
import { annotationWarnings, withAnnotations } from "./annotations.ts";
import { DEFAULT_SETTINGS, type MachineSettings } from "./settings.ts";

const PREFIX = "io.katacontainers.";
const HYPERVISOR = "config.hypervisor.";
const of = (name: string, value: string) => ({ annotations: { [`${PREFIX}${name}`]: value } });
const allowing = (...annotations: string[]): MachineSettings => ({
  ...DEFAULT_SETTINGS,
  allow: { images: ["/images/other"], hypervisors: ["/opt/qemu"], annotations },
});
const code = (name: string, value: string, settings = DEFAULT_SETTINGS): unknown => {
  try {
    withAnnotations(of(name, value), settings);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("annotations of Kata Containers", () => {
  it.each<[string, string, Partial<MachineSettings>]>([
    ["default_vcpus", "1.5", { own: { cpus: 1.5 } }],
    ["default_max_vcpus", "3", { own: { cpusMost: 3 } }],
    ["default_memory", "512", { own: { memoryMiB: 512 } }],
    ["kernel_params", " mitigations=auto  debug ", { kernelParameters: ["mitigations=auto", "debug"] }],
    ["virtio_fs_cache", "never", { fileCache: "never" }],
    ["kernel", "/images/other/boot/vmlinux", { image: "/images/other" }],
    ["path", "/opt/qemu", { hypervisor: "/opt/qemu" }],
  ])("K10: %s %j has its effect where the operator allows it, and is refused elsewhere", (name, value, effect) => {
    const settings = allowing(name);
    expect(withAnnotations(of(`${HYPERVISOR}${name}`, value), settings)).toEqual({ ...settings, ...effect });
    expect(code(`${HYPERVISOR}${name}`, value)).toBe("not-supported");
  });

  it.each([
    ["default_vcpus", "-1", "config-invalid"],
    ["default_vcpus", "1e3", "config-invalid"],
    ["default_max_vcpus", "0", "config-invalid"],
    ["default_memory", "99999999999999999999", "config-invalid"],
    ["kernel_params", "init=/bin/sh", "config-invalid"],
    ["kernel_params", "quiet -- /bin/sh", "config-invalid"],
    ["kernel_params", 'a="b c"', "config-invalid"],
    ["kernel_params", "a=\u00e9", "config-invalid"],
    ["virtio_fs_cache", "sometimes", "config-invalid"],
    ["kernel", "/tmp/boot/vmlinux", "not-supported"],
    ["kernel", "/images/other", "not-supported"],
    ["path", "/bin/sh", "not-supported"],
  ])("a wrong value is refused although the name is allowed: %s %j", (name, value, expected) => {
    expect(code(`${HYPERVISOR}${name}`, value, allowing(name))).toBe(expected);
  });

  it("the time for booting can only become shorter", () => {
    const seconds = (value: string) => withAnnotations(of("config.runtime.create_container_timeout", value), DEFAULT_SETTINGS).bootSeconds;
    expect([seconds("5"), seconds("100000")]).toEqual([5, DEFAULT_SETTINGS.bootSeconds]);
    expect(code("config.runtime.create_container_timeout", "soon")).toBe("config-invalid");
  });

  it("K28: each annotation that Kata knows is applied, refused, or told to have no effect", () => {
    for (const [name, { use, harmless = [] }] of Object.entries(KATA_ANNOTATIONS)) {
      const everything = allowing(...Object.keys(KATA_ANNOTATIONS).map((each) => each.slice(each.lastIndexOf(".") + 1)));
      if (use === "refused") {
        expect([name, code(name, "some value", everything)]).toEqual([name, "not-supported"]);
        for (const value of harmless) expect([name, value, code(name, value)]).toEqual([name, value, undefined]);
      }
      expect([name, annotationWarnings(of(name, "some value")).length]).toEqual([name, use === "unused" ? 1 : 0]);
    }
    expect(annotationWarnings(of("config.hypervisor.none_such", "1"))).toEqual([
      {
        pointer: "/annotations/io.katacontainers.config.hypervisor.none_such",
        message: "io.katacontainers.config.hypervisor.none_such has no effect: Kata Containers has no annotation of this name",
      },
    ]);
    expect(annotationWarnings({ annotations: { "io.katacontainersx": "1", other: "2" } })).toEqual([]);
  });
});
