import { describe, expect, it } from "vitest";
import type { ContainerConfig } from "../../config/index.ts";
import { recordQueries } from "../digest.ts";
import { featureRows } from "./features.ts";
import { NO_HOST } from "./none.ts";
import { recordedProbe } from "./recorded.ts";

const rootless = { ...NO_HOST, caller: { ...NO_HOST.caller, uid: 1000, gid: 1000 } };

describe("recorded facts", () => {
  it("answer what is asked of a host, and what was asked is remembered", () => {
    const { probe, answers } = recordQueries(recordedProbe(NO_HOST));
    expect(probe.cgroups()).toEqual({
      version: 2,
      hierarchies: [{ mountpoint: "/sys/fs/cgroup", controllers: NO_HOST.cgroup.hierarchies[0]?.controllers }],
    });
    expect(probe.caller()).toEqual({ uid: 0, gid: 0 });
    expect(Object.keys(answers())).toEqual(["cgroups", "caller"]);
  });

  it("have the manager of a rootless caller or none", () => {
    const user = { socket: "/run/user/1000/systemd/private", direct: true, version: 255, root: "/user.slice" };
    expect(recordedProbe(NO_HOST).systemd(false)).toMatchObject({ user: false, socket: "/run/systemd/private" });
    const { version, ...rest } = recordedProbe({ ...rootless, systemd: { ...rootless.systemd, user } }).systemd(true);
    expect({ ...rest, version: version() }).toEqual({ ...user, user: true });
    expect(() => recordedProbe(rootless).systemd(true)).toThrow(expect.objectContaining({ code: "cgroup" }));
  });

  it("know the groups of resctrl", () => {
    const known = recordedProbe({
      ...NO_HOST,
      resctrl: { mount: "/sys/fs/resctrl", groups: ["gold"], monitors: ["gold/mon_groups/old"] },
    });
    expect(known.resctrl("c", "gold", true)).toEqual({
      mount: "/sys/fs/resctrl",
      group: "gold",
      made: false,
      keep: true,
      monitor: "gold/mon_groups/c",
    });
    expect(known.resctrl("c", undefined, false)).toMatchObject({ group: "c", made: true, keep: false });
    expect(known.resctrl("c", "/", false)).toMatchObject({ group: "", made: false });
    expect(() => known.resctrl("old", "gold", true)).toThrow(expect.objectContaining({ code: "resctrl" }));
    expect(() => recordedProbe(NO_HOST).resctrl("c", undefined, false)).toThrow(expect.objectContaining({ code: "resctrl" }));
  });

  it("refuse a network device that the host does not have", () => {
    const wants = { netDevices: [{ device: "eth1", name: "eth1", from: "/linux/netDevices/eth1" }] } as unknown as ContainerConfig;
    expect(() => recordedProbe(NO_HOST).refuse(wants)).not.toThrow();
    expect(() => recordedProbe({ ...NO_HOST }).refuse(wants)).toThrow(
      expect.objectContaining({ details: { pointer: "/linux/netDevices/eth1" } }),
    );
    expect(() => recordedProbe({ ...NO_HOST, netDevices: ["eth1"] }).refuse(wants)).not.toThrow();
  });
});

describe("features", () => {
  const row = (facts: typeof NO_HOST, name: string) => featureRows(facts).find(({ feature }) => feature === name);

  it("say which machines there are, once one has booted", () => {
    expect(row(NO_HOST, "KVM")).toMatchObject({ availability: "unknown", detail: "not known before the first machine" });
    const machines = { accelerator: "tcg", bootMilliseconds: 6540 };
    expect(row({ ...NO_HOST, machines }, "KVM")).toMatchObject({
      availability: "partly",
      detail: "software emulation; the last machine booted in 6.5 s",
    });
    const kvm = { ...machines, accelerator: "kvm" };
    expect(row({ ...NO_HOST, machines: kvm }, "KVM")).toMatchObject({
      availability: "available",
      detail: "the last machine booted in 6.5 s",
    });
  });

  it("are not counted as there before anybody has looked, and say how to look", () => {
    const { cgroupMoves: _, ...unmeasured } = { cgroupMoves: undefined, ...NO_HOST };
    expect(row(unmeasured, "cgroup moves")).toMatchObject({ availability: "unknown", fix: "runt check --measure" });
    expect(row(NO_HOST, "KVM")).toMatchObject({ availability: "unknown", fix: expect.stringContaining("--isolation vm") });
    const blind = { ...NO_HOST, cgroup: { ...NO_HOST.cgroup, files: [] } };
    expect(row(blind, "swap accounting")).toMatchObject({ availability: "unknown", fix: "runt check where cgroups are mounted" });
    // Whatever else comes: no row says "ok" beside "not known" or "not measured".
    for (const { availability, detail } of featureRows(blind))
      if (/\bnot (?:known|measured)\b/.test(detail)) expect(availability, detail).toBe("unknown");
  });

  it("say what is missing, for what, and what to do", () => {
    expect(row(NO_HOST, "AppArmor")).toMatchObject({
      availability: "missing",
      need: "process.apparmorProfile",
      fix: expect.stringContaining("apparmor=1"),
    });
    expect(row(NO_HOST, "systemd")).toMatchObject({ availability: "available", detail: "system 255", fix: "" });
    expect(
      row({ ...NO_HOST, capabilities: [], caller: { ...NO_HOST.caller, effective: ["CAP_SYS_ADMIN"] } }, "capabilities"),
    ).toMatchObject({ availability: "partly" });
    const cgroupMoves = {
      medianMicroseconds: 9100,
      fastestMicroseconds: 4000,
      hierarchies: 12,
      rcuExpedited: false,
      favorDynamicMods: false,
    };
    expect(row({ ...NO_HOST, cgroupMoves }, "cgroup moves")).toMatchObject({
      availability: "partly",
      detail: "9.10 ms each, at best 4.00; 12 hierarchies",
      fix: expect.stringContaining("favordynmods"),
    });
    const eased = { ...cgroupMoves, medianMicroseconds: 90, fastestMicroseconds: 60, hierarchies: 1, rcuExpedited: true };
    expect(row({ ...NO_HOST, cgroupMoves: eased }, "cgroup moves")).toMatchObject({
      availability: "available",
      detail: "0.09 ms each, at best 0.06; one hierarchy, with rcu_expedited",
    });
    expect(row({ ...NO_HOST, cgroup: { ...NO_HOST.cgroup, hierarchies: [] } }, "cgroup")).toMatchObject({ availability: "missing" });
  });
});
