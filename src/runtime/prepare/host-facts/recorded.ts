/** Recorded facts in place of the host: a plan that is compiled with them is the plan of the recorded host. Pure. */
import type { HostFacts } from "../../check/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { HostProbe } from "../host-probe.ts";
import { NO_HOST } from "./none.ts";

export function recordedProbe(facts: HostFacts): HostProbe {
  const { caller, cgroup, security } = facts;
  return {
    caller: () => ({ uid: caller.uid, gid: caller.gid }),
    idPrograms: () => ({
      ...(caller.newuidmap && { newuidmap: caller.newuidmap }),
      ...(caller.newgidmap && { newgidmap: caller.newgidmap }),
    }),
    cgroups: () => ({
      version: cgroup.version === 1 ? 1 : 2,
      hierarchies: cgroup.hierarchies.map(({ mountpoint, controllers }) => ({ mountpoint, controllers })),
      ...(cgroup.unified !== undefined && { unified: cgroup.unified }),
    }),
    mayMakeCgroups: () => cgroup.hierarchies.every(({ writable }) => writable),
    systemd(rootless) {
      // A rootless caller with a manager of its own uses that one and no other, as LIVE does.
      const user = rootless && (facts.systemd.user !== undefined || caller.uid !== 0);
      const manager = user ? facts.systemd.user : facts.systemd.system;
      if (manager) return { ...manager, version: () => manager.version, user };
      throw new RuntError("cgroup", "systemd not running on the recorded host, cannot use systemd cgroups manager");
    },
    apparmor: () => security.apparmor,
    selinux: () => security.selinux,
    resctrl: (id, closId, monitoring) => locate(facts, id, closId, monitoring),
    refuse({ netDevices }) {
      for (const { device, from } of netDevices) {
        // Nothing is known of the interfaces of `--host none`.
        if (facts === NO_HOST || facts.netDevices.includes(device)) continue;
        throw new RuntError("config-invalid", `linux.netDevices: the recorded host has no network device "${device}"`, { pointer: from });
      }
    },
  };
}

function locate({ resctrl }: HostFacts, id: string, closId: string | undefined, monitoring: boolean) {
  const { mount, groups, monitors } = resctrl;
  const pointer = "/linux/intelRdt";
  if (mount === undefined)
    throw new RuntError("resctrl", "linux.intelRdt: no resctrl filesystem is mounted on the recorded host", { pointer });
  const group = closId === "/" ? "" : (closId ?? id);
  const ref = { mount, group, made: group !== "" && !groups.includes(group), keep: closId !== undefined };
  if (!monitoring) return ref;
  const monitor = `${group === "" ? "" : `${group}/`}mon_groups/${id}`;
  if (monitors.includes(monitor))
    throw new RuntError("resctrl", `the recorded host has a monitoring group ${monitor}`, { pointer: `${pointer}/enableMonitoring` });
  return { ...ref, monitor };
}
