import { unfitDevice } from "../../config/index.ts";
import { cleanPath, cleanTarget, type Spec, type SpecIdMapping } from "../../spec/index.ts";
import type { Check, Report } from "../finding.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";

/** Limits of makedev(3) on Linux. */
const MAX_MAJOR = 0xfff;
const MAX_MINOR = 0xf_ffff;

/** config-linux, devices: type c, b, u or p; an absolute path; in a machine one that the guest has. */
export const deviceNodes: Check = ({ annotations, linux }, report) => {
  (linux?.devices ?? []).forEach((device, index) => {
    const { path, type } = device;
    const pointer = `/linux/devices/${index}`;
    if (!path.startsWith("/")) report.error("device-path", `${pointer}/path`, `linux.devices: "${path}" is not an absolute path`);
    if (type.length !== 1 || !"cbup".includes(type)) {
      report.error("device-type", `${pointer}/type`, `linux.devices: "${path}" has the unknown type "${type}"`, "c, b, u or p");
    }
    const why = annotations?.["io.runt.isolation"] === "vm" ? unfitDevice(device) : undefined;
    if (why !== undefined) report.error("machine-device", pointer, `linux.devices: a machine (--isolation vm) cannot have ${why}`);
  });
};

/** config-linux, devices: major and minor are required except for a fifo; the same device twice is suspicious. */
export const deviceNumbers: Check = ({ linux }, report) => {
  const seen = new Map<string, string>();
  (linux?.devices ?? []).forEach(({ path, type, major, minor }, index) => {
    if (type === "p") return;
    const pointer = `/linux/devices/${index}`;
    const check = (field: "major" | "minor", value: number | bigint | null | undefined, max: number) => {
      if (value === null || value === undefined)
        report.error("device-number-missing", `${pointer}/${field}`, `linux.devices: "${path}" needs ${field}`);
      else if (value < 0 || value > max)
        report.error(
          "device-number-range",
          `${pointer}/${field}`,
          `linux.devices: ${field} ${value} of "${path}" is not between 0 and ${max}`,
        );
    };
    check("major", major, MAX_MAJOR);
    check("minor", minor, MAX_MINOR);
    const key = `${type === "b" ? "b" : "c"} ${major}:${minor}`;
    const first = seen.get(key);
    if (first !== undefined) report.warning("device-duplicate", pointer, `linux.devices: "${path}" is the same device as "${first}"`);
    else seen.set(key, path);
  });
};

function isHostDev({ mounts }: Spec): boolean {
  return (mounts ?? []).some(({ destination, options, type }) => {
    const bind = type === "bind" || options?.includes("bind") || options?.includes("rbind");
    return bind === true && !options?.includes("remount") && cleanTarget(destination) === "/dev";
  });
}

/** Podman writes 0 to 0 alone for a joined user namespace, whatever its maps are. */
export function hasIdMaps({ linux }: Spec): boolean {
  const known = (mappings: readonly SpecIdMapping[]) => mappings.some(({ hostID, size }) => hostID !== 0 || size !== 1);
  const [uids, gids] = [linux?.uidMappings ?? [], linux?.gidMappings ?? []];
  return uids.length > 0 && gids.length > 0 && (known(uids) || known(gids));
}

/** What of linux.devices has no effect: a path given again, everything when /dev is bound, owner and mode of a node that is the host's. */
export const deviceEffects: Check = (spec, report, facts) => {
  const devices = spec.linux?.devices ?? [];
  if (devices.length === 0) return;
  if (isHostDev(spec)) {
    report.warning("devices-skipped", "/linux/devices", "linux.devices: no nodes are made, because /dev is a bind mount");
    return;
  }
  const isBound = facts.rootless === true || (!!namespaceOf(spec, "user")?.path && !hasIdMaps(spec));
  const paths = new Set<string>();
  devices.forEach(({ path, type, fileMode, uid, gid }, index) => {
    const pointer = `/linux/devices/${index}`;
    const clean = cleanPath(path);
    if (paths.has(clean))
      report.warning("device-path-duplicate", `${pointer}/path`, `linux.devices: "${path}" is given again, the last one wins`);
    paths.add(clean);
    const hasOwner = [fileMode, uid, gid].some((value) => value !== null && value !== undefined);
    if (isBound && type !== "p" && hasOwner)
      report.warning("device-owner-ignored", pointer, `linux.devices: "${path}" is the host's node here, with its owner and mode`);
  });
};

/** config-linux, allowed device list: type a, b or c; access of r, w and m. */
export const deviceRules: Check = ({ linux }, report) => {
  (linux?.resources?.devices ?? []).forEach(({ type, access, major, minor }, index) => {
    const pointer = `/linux/resources/devices/${index}`;
    if (type && (type.length !== 1 || !"abc".includes(type))) {
      report.error("device-rule-type", `${pointer}/type`, `linux.resources.devices: unknown type "${type}"`, "a, b or c");
    }
    if (access && access !== "rwm") checkAccess(access, `${pointer}/access`, report);
    if ((major ?? -1) < -1 || (minor ?? -1) < -1) report.error("device-rule-number", pointer, "linux.resources.devices: a number below -1");
  });
};

/** As in runc, other letters count for nothing, and configurations have them; without any of the three nothing is asked for. */
function checkAccess(access: string, pointer: string, report: Report): void {
  const unknown = [...access].find((letter) => !"rwm".includes(letter));
  if (unknown === undefined) return;
  const message = `linux.resources.devices: unknown access "${unknown}" in "${access}"`;
  if (/[rwm]/.test(access)) report.warning("device-rule-letters", pointer, `${message} counts for nothing`);
  else report.error("device-rule-access", pointer, message, "letters of rwm");
}

type Rule = NonNullable<NonNullable<NonNullable<Spec["linux"]>["resources"]>["devices"]>[number];
type Device = NonNullable<NonNullable<Spec["linux"]>["devices"]>[number];

const LETTERS = "rwm";

/** What every container may use, whatever the rules say (config-linux, default devices; the terminal). "major:minor". */
const ALWAYS = ["1:3", "1:5", "1:7", "1:8", "1:9", "5:0", "5:1", "5:2"];

function applies({ type, major, minor }: Rule, device: Device): boolean {
  const fits = (asked: number | bigint | null | undefined, own: number | bigint | null | undefined) =>
    asked === null || asked === undefined || asked === -1 || Number(asked) === Number(own);
  return (!type || type === "a" || type === (device.type === "b" ? "b" : "c")) && fits(major, device.major) && fits(minor, device.minor);
}

/** Letters of access that the rules leave for a device; the last word counts. */
function allowedAccess(rules: readonly Rule[], device: Device): string {
  let allowed = "";
  for (const rule of rules) {
    if (!applies(rule, device)) continue;
    const letters = rule.access || LETTERS;
    allowed = [...LETTERS].filter((letter) => (letters.includes(letter) ? rule.allow : allowed.includes(letter))).join("");
  }
  return allowed;
}

/** config-linux, allowed device list: a device that is made and that the same configuration forbids to use. */
export const deniedDevices: Check = ({ linux }, report) => {
  const rules = linux?.resources?.devices ?? [];
  if (rules.length === 0) return;
  linux?.devices?.forEach((device, index) => {
    if (device.type === "p" || ALWAYS.includes(`${device.major}:${device.minor}`)) return;
    const allowed = allowedAccess([...rules], device);
    if (allowed.includes("r") || allowed.includes("w")) return;
    report.warning(
      "device-denied",
      `/linux/devices/${index}`,
      `"${device.path}" is made, but linux.resources.devices allows no process to read or write it`,
      `allow ${device.type === "b" ? "b" : "c"} ${device.major}:${device.minor} rwm in linux.resources.devices`,
    );
  });
};
