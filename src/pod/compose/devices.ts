/**
 * Translates devices of a service: host paths, CDI names, and requests for graphics processors. Source: Compose specification, "devices", "gpus";
 * Compose Deploy specification, "devices".
 */
import { CDI_NAME, type TaskInput } from "../../engine/spec/index.ts";
import { absolute } from "./paths.ts";
import type { ServicePlace } from "./place.ts";
import type { ServiceInput } from "./schema.ts";

type Container = TaskInput["containers"][number];
type Device = NonNullable<Container["devices"]>[number];
type Request = NonNullable<Exclude<ServiceInput["gpus"], string>>[number];
type Path = readonly (string | number)[];

type Variables = Readonly<Record<string, string>>;

/** @param variables of the service, also those of its env_file */
export function devicesOf(
  service: ServiceInput,
  variables: Variables,
  place: ServicePlace,
): Pick<Container, "devices" | "deviceRules" | "cdi"> {
  const { devices: given = [], device_cgroup_rules: rules = [], gpus = [], deploy } = service;
  const reserved = deploy?.resources?.reservations?.devices ?? [];
  const asked: readonly Request[] = typeof gpus === "string" ? [{ capabilities: ["gpu"], count: "all" }] : gpus;
  const found = given.map((one, index) => deviceOf(one, place, ["devices", index]));
  const cdi = [
    ...found.flatMap((one) => (typeof one === "string" ? [one] : [])),
    ...asked.flatMap((one, index) => namesOf(one, place, typeof gpus === "string" ? ["gpus"] : ["gpus", index])),
    ...reserved.flatMap((one, index) => namesOf(one, place, ["deploy", "resources", "reservations", "devices", index])),
  ];
  if (service.runtime === NVIDIA) {
    // What the service requests by its fields counts before the variable.
    const visible = cdi.length === 0 ? visibleTo(variables) : [];
    const devices = visible ?? [];
    cdi.push(...devices);
    const what = visible === undefined ? `none without ${VISIBLE}, and the image's own value does not count` : "as devices of CDI";
    place.warn(`is no runtime here: the service gets graphics processors ${what}`, ["runtime"]);
  }
  const nodes = found.flatMap((one) => (one === undefined || typeof one === "string" ? [] : [one]));
  return {
    ...(nodes.length === 0 ? {} : { devices: nodes }),
    ...(rules.length === 0 ? {} : { deviceRules: rules }),
    ...(cdi.length === 0 ? {} : { cdi: [...new Set(cdi)] }),
  };
}

/** The name of a runtime that gives a container the graphics processors which a variable names, and otherwise runs it with runc. */
export const NVIDIA = "nvidia";
const VISIBLE = "NVIDIA_VISIBLE_DEVICES";
const NO_DEVICES = ["", "none", "void"];

/** undefined: the variable is not set. Source: NVIDIA Container Toolkit, "Environment variables (OCI spec)". */
function visibleTo({ [VISIBLE]: named }: Variables): string[] | undefined {
  if (named === undefined) return undefined;
  if (NO_DEVICES.includes(named)) return [];
  return named.split(",").map((one) => `${KINDS["nvidia"]}=${one.trim()}`);
}

/** A string is the name of a CDI device. undefined: the device was refused. */
function deviceOf(one: NonNullable<ServiceInput["devices"]>[number], place: ServicePlace, path: Path): Device | string | undefined {
  if (typeof one === "string" && CDI_NAME.test(one)) return one;
  const [first = "", second = first, third, fourth] = typeof one === "string" ? one.split(":") : [one.source, one.target, one.permissions];
  if (fourth !== undefined || first === "") {
    place.refuse('write a device like "/dev/ttyUSB0" or "/dev/sdb:/dev/xvdc:rw"', path);
    return undefined;
  }
  if (CDI_NAME.test(first)) return first;
  if (!second.startsWith("/")) {
    place.refuse(`${second} is no absolute path of the container`, path);
    return undefined;
  }
  const source = absolute(place.directory, first);
  return { source, ...(second === source ? {} : { target: second }), ...(third === undefined || third === "" ? {} : { access: third }) };
}

/** Kinds of CDI devices, by the name of the driver in Docker. Source: moby, daemon/devices_nvidia_linux.go, devices_amd_linux.go. */
const KINDS: Readonly<Record<string, string>> = { nvidia: "nvidia.com/gpu", amd: "amd.com/gpu" };
/** Capabilities for which Docker uses the driver nvidia if none is named. */
const OF_NVIDIA = ["gpu", "nvidia", "compute", "compat32", "graphics", "utility", "video", "display"];

function namesOf(
  { driver = "", capabilities = [], count = "all", device_ids: ids, options }: Request,
  place: ServicePlace,
  path: Path,
): string[] {
  if (options !== undefined) place.warn("has no effect: the CDI specification says what the device needs", [...path, "options"]);
  if (driver === "cdi") {
    const wrong = (ids ?? []).findIndex((id) => !CDI_NAME.test(id));
    if (ids === undefined) place.refuse("needs device_ids: names like vendor.com/class=name", path);
    else if (wrong >= 0) place.refuse("is no name like vendor.com/class=name", [...path, "device_ids", wrong]);
    return ids ?? [];
  }
  const unknown = driver === "" ? capabilities.find((one) => !OF_NVIDIA.includes(one)) : undefined;
  const kind = KINDS[driver || "nvidia"];
  if (unknown !== undefined)
    place.refuse(`no driver is known for the capability ${unknown}: name the device as in CDI, with the driver cdi`, path);
  else if (kind === undefined) place.refuse("only nvidia, amd and cdi are supported", [...path, "driver"]);
  if (unknown !== undefined || kind === undefined) return [];
  if (ids !== undefined) return ids.map((id) => `${kind}=${id}`);
  if (count === "all" || Number(count) === -1) return [`${kind}=all`];
  return Array.from({ length: Number(count) }, (_, at) => `${kind}=${at}`);
}
