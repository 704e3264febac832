/** Recorded facts in place of the host: a plan that is compiled with them is the plan of the recorded host. Pure. */

import validate from "../../../../build/gen/validate-host-facts.js";
import { fieldsOf } from "../../../shared/text/index.ts";
import { HOST_FACTS_VERSION, type HostFacts } from "../../check/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { type JsonValue, parseJson } from "../../spec/index.ts";
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

/**
 * `--host live|none|FILE`. The facts that a value of --host other than "live" names.
 * @throws RuntError host-facts for a file that does not hold any
 */
export function chosenHostFacts(value: string): HostFacts {
  return value === "none" ? NO_HOST : readHostFacts(value);
}

function readHostFacts(path: string): HostFacts {
  const value = parse(path);
  const version = fieldsOf(value)["hostFacts"];
  if (version === undefined) throw unfit(path, "not a document of host facts");
  if (version !== HOST_FACTS_VERSION) throw unfit(path, `version ${String(version)} of the document, ${HOST_FACTS_VERSION} is known`);
  if (validate(value)) return value as unknown as HostFacts;
  const { instancePath = "", params } = validate.errors?.[0] ?? {};
  const missing = params?.missingProperty;
  throw unfit(
    path,
    missing === undefined ? `${instancePath}: not what is expected there` : `${instancePath}/${missing}: required but missing`,
  );
}

function parse(path: string): JsonValue {
  let text: string;
  try {
    text = host.readFile(path);
  } catch (error) {
    throw new RuntError("host-facts", `open ${path}: ${host.reason(error)}`, { cause: error });
  }
  try {
    return parseJson(text, { file: path });
  } catch (error) {
    throw new RuntError("host-facts", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function unfit(path: string, reason: string): RuntError {
  return new RuntError("host-facts", `${path}: ${reason}`, { hint: "runt check -f json > FILE writes one" });
}
