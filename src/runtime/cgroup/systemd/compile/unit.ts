/** linux.cgroupsPath as the systemd driver reads it: slice:prefix:name -> unit, slice and place in the cgroup tree. */
import { RuntError } from "../../../errors/index.ts";

export interface Unit {
  /** "docker-1234.scope", or the name of a slice. */
  readonly name: string;
  /** Where a scope is put; undefined for a slice, whose name says it. */
  readonly slice?: string;
  /** Below the manager's own cgroup: "/system.slice/docker-1234.scope". */
  readonly path: string;
}

const POINTER = { pointer: "/linux/cgroupsPath" };
const PREFIX = "runt";
const SCOPE = ".scope";
const SLICE = ".slice";
/** UNIT_NAME_MAX of systemd, without its NUL. */
const LONGEST = 255;

/**
 * @param id names the unit when there is no cgroupsPath.
 * @param defaultSlice where an empty slice is: "system.slice", for a user's manager "user.slice".
 * @throws RuntError config-invalid
 */
export function parseUnit(cgroupsPath: string, id: string, defaultSlice: string): Unit {
  const [slice, prefix, name] = cgroupsPath === "" ? ["", PREFIX, escapeId(id)] : split(cgroupsPath);
  if (name.endsWith(SLICE)) return parseSlice(name, slice);
  const unit = prefix === "" ? name + SCOPE : `${prefix}-${name}${SCOPE}`;
  if (name === "" || unit.length > LONGEST || !/^[\w:.\\-]+$/.test(unit)) {
    throw new RuntError("config-invalid", `cgroupsPath "${cgroupsPath}": "${unit}" is not the name of a systemd unit`, POINTER);
  }
  const parent = slice === "" ? defaultSlice : rootName(slice);
  return { name: unit, slice: parent, path: `${slicePath(parent)}/${unit}` };
}

function split(cgroupsPath: string): [string, string, string] {
  const parts = cgroupsPath.split(":");
  if (parts.length !== 3) {
    throw new RuntError(
      "config-invalid",
      `expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got ${JSON.stringify(cgroupsPath)} instead`,
      { ...POINTER, hint: "slice may be empty: :runt:NAME" },
    );
  }
  return parts as [string, string, string];
}

/** What systemd-escape(1) makes of the one character of an id that unit names do not have. */
function escapeId(id: string): string {
  return id.replaceAll("+", "\\x2b");
}

/** A slice lies where its name says, so another one in front of it can only be its parent. */
function parseSlice(name: string, parent: string): Unit {
  const path = slicePath(name);
  if (path === "") throw new RuntError("config-invalid", "the root slice cannot be a container's unit", POINTER);
  const above = path.slice(0, path.lastIndexOf("/"));
  if (parent !== "" && slicePath(rootName(parent)) !== above) {
    throw new RuntError("config-invalid", `slice ${name} is not directly below ${parent}`, POINTER);
  }
  return { name, path };
}

function rootName(slice: string): string {
  return slice === "-" ? `-${SLICE}` : slice;
}

/**
 * "a-b.slice" -> "/a.slice/a-b.slice"; the root slice ("-.slice") -> "". Source: systemd.slice(5).
 * @throws RuntError config-invalid
 */
export function slicePath(slice: string): string {
  if (slice === `-${SLICE}`) return "";
  const name = slice.slice(0, -SLICE.length);
  const parts = name.split("-");
  if (!slice.endsWith(SLICE) || slice.length > LONGEST || !parts.every((part) => /^[\w:.\\]+$/.test(part))) {
    throw new RuntError("config-invalid", `invalid slice name: ${slice}`, POINTER);
  }
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("-")}${SLICE}`).join("");
}
