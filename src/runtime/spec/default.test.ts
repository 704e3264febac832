import { describe, expect, it } from "vitest";
import { checkSpec } from "../check/index.ts";
import { deriveConfig } from "../config/index.ts";
import { defaultSpec } from "./default.ts";
import { parseSpec } from "./load.ts";

const ROOT = { rootless: false, euid: 0, egid: 0, cgroup2: false };
const ROOTLESS = { rootless: true, euid: 1000, egid: 1001, cgroup2: true };
const types = (spec: ReturnType<typeof defaultSpec>) => spec.linux?.namespaces?.map(({ type }) => type);

describe("defaultSpec", () => {
  it.each([ROOT, { ...ROOT, cgroup2: true }, ROOTLESS])("is accepted by every later step without a warning: %j", (options) => {
    const spec = parseSpec(JSON.stringify(defaultSpec(options)), false);
    expect(checkSpec(spec, { rootless: options.rootless })).toEqual([]);
    expect(deriveConfig(spec, { bundle: "/b" }).warnings).toEqual([]);
  });

  it("has a cgroup namespace on hosts with cgroup v2", () => {
    expect(types(defaultSpec(ROOT))).toEqual(["pid", "network", "ipc", "uts", "mount"]);
    expect(types(defaultSpec({ ...ROOT, cgroup2: true }))).toEqual(["pid", "network", "ipc", "uts", "mount", "cgroup"]);
  });

  it("maps only the caller when rootless, and leaves out what needs privileges", () => {
    const spec = defaultSpec(ROOTLESS);
    expect(types(spec)).toEqual(["pid", "ipc", "uts", "mount", "cgroup", "user"]);
    expect(spec.linux?.uidMappings).toEqual([{ containerID: 0, hostID: 1000, size: 1 }]);
    expect(spec.linux?.gidMappings).toEqual([{ containerID: 0, hostID: 1001, size: 1 }]);
    expect(spec.linux?.resources).toBeUndefined();
    expect(spec.mounts?.find(({ destination }) => destination === "/sys")).toMatchObject({ type: "none", source: "/sys" });
    expect(JSON.stringify(spec.mounts)).not.toContain("gid=");
  });
});
