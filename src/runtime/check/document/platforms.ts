import type { Check } from "../finding.ts";

/** What a section of another platform would have asked for. */
const SECTIONS = [
  { name: "windows", effect: "it describes a container of Windows" },
  { name: "solaris", effect: "it describes a container of Solaris" },
  { name: "freebsd", effect: "it describes a jail of FreeBSD" },
  { name: "zos", effect: "it describes a container of z/OS" },
  { name: "vm", effect: "no virtual machine is started" },
] as const;

/** config, platforms: what is meant for another one has no effect, and is named rather than lost. */
export const otherPlatforms: Check = (spec, report) => {
  for (const { name, effect } of SECTIONS) {
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
