import type { Check } from "../finding.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import { utf8Length } from "../suggest.ts";

/** config-linux, masked and read-only paths: absolute, or taken so, and in a mount namespace of the container's own. */
export const hiddenPaths: Check = (spec, report) => {
  for (const field of ["maskedPaths", "readonlyPaths"] as const) {
    const paths = spec.linux?.[field];
    if (!paths || paths.length === 0) continue;
    if (!namespaceOf(spec, "mount")) {
      report.error(
        "hidden-paths-shared",
        `/linux/${field}`,
        `linux.${field}: unable to restrict paths without a private mount namespace`,
        "add a mount namespace",
      );
    }
    for (let index = 0; index < paths.length; index++) {
      const path = paths[index]!;
      if (path.startsWith("/")) continue;
      const pointer = `/linux/${field}/${index}`;
      if (path === "") report.error("hidden-path-empty", pointer, `linux.${field}: a path must not be empty`);
      else report.warning("hidden-path-relative", pointer, `linux.${field}: "${path}" is not an absolute path and is taken from the root`);
    }
  }
};

/** config-linux, rootfs mount propagation: the root of a joined mount namespace is not changed. */
export const rootPropagation: Check = (spec, report) => {
  const namespace = namespaceOf(spec, "mount");
  if (!spec.linux?.rootfsPropagation || (namespace && !namespace.path)) return;
  const message = "linux.rootfsPropagation: has no effect without a new mount namespace";
  report.warning("root-propagation-ignored", "/linux/rootfsPropagation", message);
};

/** limits.h: NAME_MAX, and PATH_MAX without its NUL byte. */
const LONGEST_NAME = 255;
const LONGEST_PATH = 4095;

/** path_resolution(7): what is opened or made in the container has names that the kernel takes. */
export const pathLengths: Check = ({ process, mounts, linux }, report) => {
  const look = (pointer: string, path: string | null | undefined) => {
    if (!path || path.length * 3 <= LONGEST_NAME) return;
    const name = path.split("/").find((one) => utf8Length(one) > LONGEST_NAME);
    if (name !== undefined)
      report.error(
        "path-long",
        pointer,
        `"${name.slice(0, SHOWN)}…" has ${utf8Length(name)} bytes, and a name has ${LONGEST_NAME} at most`,
      );
    else if (utf8Length(path) > LONGEST_PATH)
      report.error(
        "path-long",
        pointer,
        `"${path.slice(0, SHOWN)}…" has ${utf8Length(path)} bytes, and a path has ${LONGEST_PATH} at most`,
      );
  };
  look("/process/cwd", process?.cwd);
  mounts?.forEach(({ destination }, index) => {
    look(`/mounts/${index}/destination`, destination);
  });
  linux?.devices?.forEach(({ path }, index) => {
    look(`/linux/devices/${index}/path`, path);
  });
  for (const field of ["maskedPaths", "readonlyPaths"] as const)
    linux?.[field]?.forEach((path, index) => {
      look(`/linux/${field}/${index}`, path);
    });
};

/** So much of a long name is enough to know it. */
const SHOWN = 40;

/** A NUL byte would cut a text short on its way to the kernel. Environment and sysctl are looked at where they are derived. */
export const nulBytes: Check = ({ root, process, hostname, domainname, mounts, linux }, report, { withoutNul }) => {
  if (withoutNul) return;
  const look = (pointer: string, text: string | null | undefined) => {
    if (text?.includes("\0")) report.error("nul-byte", pointer, `${pointer.slice(1).replaceAll("/", ".")}: contains a NUL byte`);
  };
  // The pointer of a list is enough to find the entry, and needs no text made for each.
  const lookAll = (pointer: string, texts: readonly string[] | null | undefined) => {
    if (texts) for (const text of texts) look(pointer, text);
  };
  look("/root/path", root?.path);
  look("/process/cwd", process?.cwd);
  lookAll("/process/args", process?.args);
  look("/hostname", hostname);
  look("/domainname", domainname);
  for (const { destination, type, source, options } of mounts ?? []) {
    look("/mounts", destination);
    look("/mounts", type);
    look("/mounts", source);
    lookAll("/mounts", options);
  }
  for (const { path } of linux?.namespaces ?? []) look("/linux/namespaces", path);
  for (const { path } of linux?.devices ?? []) look("/linux/devices", path);
  look("/linux/cgroupsPath", linux?.cgroupsPath);
  lookAll("/linux/maskedPaths", linux?.maskedPaths);
  lookAll("/linux/readonlyPaths", linux?.readonlyPaths);
};
