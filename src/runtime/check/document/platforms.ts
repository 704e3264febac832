import type { Spec } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

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
