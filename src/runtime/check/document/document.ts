import { findAll, roleOf } from "../../config/index.ts";
import { OCI_VERSION_MAX, pointerToken, type Spec } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import { absolute, type HostCheck } from "../host/container-files.ts";
import { nearest } from "../namespaces/host-namespaces.ts";

/** Semantic Versioning 2.0.0. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

const [KNOWN_MAJOR, KNOWN_MINOR] = OCI_VERSION_MAX.split(".").map(Number) as [number, number, number];

/** The usual forms, which are the quicker found without a regular expression. */
function isPlain(version: string): boolean {
  const end = version.endsWith("-dev") ? version.length - 4 : version.length;
  return end === 5 && version.startsWith("1.") && version[3] === "." && "0123".includes(version[2]!) && "0123456789".includes(version[4]!);
}

/** config, specification version: SemVer 2.0.0; every 1.x is accepted, a newer one with a warning. */
export const ociVersion: Check = (spec, report) => {
  if (isPlain(spec.ociVersion)) return;
  const match = SEMVER.exec(spec.ociVersion);
  if (match === null) {
    report.error(
      "oci-version-syntax",
      "/ociVersion",
      `ociVersion: "${spec.ociVersion}" is not a semantic version`,
      `use "${OCI_VERSION_MAX}"`,
    );
    return;
  }
  const major = Number(match[1]);
  const minor = Number(match[2]);
  if (major !== KNOWN_MAJOR) {
    report.error("oci-version-unknown", "/ociVersion", `ociVersion: ${spec.ociVersion} is not supported, only ${KNOWN_MAJOR}.x is`);
  } else if (minor > KNOWN_MINOR) {
    report.warning(
      "oci-version-newer",
      "/ociVersion",
      `ociVersion: ${spec.ociVersion} is newer than ${OCI_VERSION_MAX}, what is new in it is not known`,
    );
  }
};

/** config, root: required on Linux, with a path. */
export const rootPath: Check = (spec, report) => {
  if (!spec.root) report.error("root-missing", "/root", "root: required but missing");
  else if (spec.root.path === "") report.error("root-path-empty", "/root/path", "root.path: must not be empty");
};

/** config, annotations: a key is not empty. */
export const annotationKeys: Check = ({ annotations }, report) => {
  if (annotations && Object.hasOwn(annotations, ""))
    report.error("annotation-key-empty", "/annotations/", "annotations: a key must not be empty");
};

/** An engine for Kubernetes says what it makes: a sandbox or a container. Other words are none of its own. */
export const containerType: Check = ({ annotations }, report) => {
  if (!annotations) return;
  const [found] = findAll(annotations, "typeKey");
  if (found && roleOf(found.value) === undefined)
    report.error("container-type", `/annotations/${pointerToken(found.key)}`, `unknown container type "${found.value}"`);
};

/** What a section of another platform would have asked for. */
const SECTIONS = Object.entries({
  windows: "it describes a container of Windows",
  solaris: "it describes a container of Solaris",
  freebsd: "it describes a jail of FreeBSD",
  zos: "it describes a container of z/OS",
  vm: "no virtual machine is started",
} as const satisfies Partial<Record<keyof Spec, string>>) as readonly (readonly [name: keyof Spec, effect: string])[];

/** config, platforms: what is meant for another one has no effect, and is named rather than lost. */
export const otherPlatforms: Check = (spec, report) => {
  for (const [name, effect] of SECTIONS) {
    const section = spec[name];
    if (section !== undefined && section !== null) report.warning("platform-ignored", `/${name}`, `${name} has no effect: ${effect}`);
  }
  if (spec.process?.commandLine)
    report.warning(
      "platform-ignored",
      "/process/commandLine",
      "process.commandLine has no effect: it is for Windows, process.args is used",
    );
  if (spec.process?.user?.username)
    report.warning(
      "platform-ignored",
      "/process/user/username",
      "process.user.username has no effect: it is for Windows, uid and gid are used",
    );
};

/** A drive, or a volume by its GUID: names that only Windows can follow. */
const WINDOWS_PATH = /^(?:[A-Za-z]:[\\/]|\\\\[?.]\\)/;

/** config, root: on POSIX a path of this host. */
export const rootOfWindows: Check = ({ root }, report) => {
  // The first regular expression of a start costs twenty microseconds.
  if (root && (root.path.includes(":") || root.path.includes("\\")) && WINDOWS_PATH.test(root.path))
    report.error(
      "root-path-windows",
      "/root/path",
      `root.path: "${root.path}" is a path of Windows`,
      "name a directory of this host, relative to the bundle or absolute",
    );
};

/** config, root: a directory that exists, and not a link. */
export const rootFilesystem: HostCheck = ({ root }, report, { view }) => {
  if (!root?.path || (view.bundle === undefined && !root.path.startsWith("/"))) return;
  const tree = view.tree("/");
  if (tree === undefined) return;
  const path = absolute(view.bundle ?? "/", root.path).replace(/\/+$/, "") || "/";
  const pointer = "/root/path";
  const facts = view.stat(path);
  if (facts === "unknown") return;
  const itself = tree.look(path);
  if (itself?.kind === "symlink")
    report.error("rootfs-symlink", pointer, `"${root.path}" is a symbolic link: who can change it could put any directory in its place`);
  else if (facts === undefined) {
    const near = nearest(tree, path);
    report.error("rootfs-missing", pointer, `"${root.path}" does not exist${near === undefined ? "" : `; nearest: ${near}`}`);
  } else if (facts.kind !== "directory") report.error("rootfs-not-directory", pointer, `"${root.path}" is not a directory`);
};
