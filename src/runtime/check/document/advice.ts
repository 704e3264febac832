import { pointerToken } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** Permissions in decimal digits that look octal: 666 is 01232. */
const LOOKS_OCTAL: ReadonlySet<number> = new Set([
  ...[600, 640, 644, 660, 664, 666, 700, 711, 750, 755, 770, 775, 777, 400, 440, 444, 1777],
  ...[22, 27, 77, 2, 7],
]);
const SMALL = 100;

const octal = (value: number): string => `0${value.toString(8)}`;

/** JSON has no octal numbers: 0666 is written 438. */
export const modes: Check = ({ process, linux }, report) => {
  const look = (pointer: string, value: number | null | undefined) => {
    if (!value || !LOOKS_OCTAL.has(value)) return;
    const meant = Number.parseInt(String(value), 8);
    if (meant === value) return;
    report.warning(
      "mode-decimal",
      pointer,
      `${value} is ${octal(value)} in octal; ${octal(meant)} is written ${meant}`,
      `write ${meant} for ${octal(meant)}`,
    );
  };
  const umask = process?.user?.umask;
  // Two digits are a usual umask, and a strange mode of a file.
  if (umask && (umask < SMALL || umask === 777)) look("/process/user/umask", umask);
  linux?.devices?.forEach(({ fileMode }, index) => {
    const permissions = fileMode === null || fileMode === undefined ? 0 : fileMode;
    if (permissions >= SMALL) look(`/linux/devices/${index}/fileMode`, permissions);
  });
};

/** config, annotations: keys should begin with a reversed domain, so that no other program uses the same ones. */
export const annotationNames: Check = ({ annotations }, report) => {
  for (const key of Object.keys(annotations ?? {})) {
    if (key === "" || key.includes(".")) continue;
    report.advice("annotation-name", `/annotations/${pointerToken(key)}`, `"${key}" is not named after a domain, as in com.example.${key}`);
  }
};

/** config, platform-specific configuration: optional, and everything that makes a container of a process. */
export const linuxGiven: Check = ({ linux }, report) => {
  if (!linux)
    report.warning("linux-missing", "/linux", "there is no linux section: the process has all namespaces of its caller, and no limits");
};
