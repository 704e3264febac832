import { DEFAULT_DEVICES } from "../../config/index.ts";
import { cleanPath } from "../../spec/index.ts";
import { findThroughOwnLink, mayExecute, modeText, userOf } from "../host/access.ts";
import type { HostCheck } from "../host/container-files.ts";
import { isReadOnly, kernelFile } from "../host/kernel-files.ts";
import { whyNotMade } from "../host/making.ts";

const POINTER = "/process/cwd";

/** config, process: cwd is a directory that the user may enter. One that is not there is made, where it can be. */
export const workingDirectory: HostCheck = (spec, report, { view, files }) => {
  const cwd = spec.process?.cwd;
  if (files === undefined || !cwd?.startsWith("/")) return;
  const found = findThroughOwnLink(spec, files, cwd);
  if (found.status === "opaque" && DEFAULT_DEVICES.some(({ path }) => path === cleanPath(cwd))) {
    report.error("cwd-not-directory", POINTER, `"${cwd}" is a device, not a directory`);
    return;
  }
  switch (found.status) {
    case "not-a-directory":
      report.error("cwd-not-directory", POINTER, `"${found.parent}", on the way to "${cwd}", is not a directory`);
      return;
    case "loop":
      report.error("path-links", POINTER, `"${cwd}" leads over links in a circle, or over too many of them`);
      return;
    case "opaque": {
      const there = kernelFile(spec, found, view);
      if (there === "magic") report.error("path-links", POINTER, `"${cwd}" leads over a link of the kernel's to what a process has open`);
      else if (there === "file") report.error("cwd-not-directory", POINTER, `"${cwd}" is a file, not a directory`);
      else if (there === "missing")
        report.error(
          "cwd-not-made",
          POINTER,
          `"${cwd}" is not there and cannot be made: only the kernel makes directories in ${found.layer.at}`,
        );
      else if (there === "unknown" && isReadOnly(found.layer.options) && isEmpty(spec.mounts?.[found.layer.index]?.type))
        report.error("cwd-not-made", POINTER, `"${cwd}" is not there and cannot be made: the mount of ${found.layer.at} is read-only`);
      return;
    }
    case "missing": {
      const refusal = whyNotMade(found, spec, files, view);
      if (refusal) report.error("cwd-not-made", POINTER, `"${cwd}" is not there and cannot be made: ${refusal.reason}`);
      else if (found.layer.index === -1 && !spec.root?.readonly)
        report.advice("cwd-missing", POINTER, `"${cwd}" is not in the root filesystem and is made, empty and owned by root`);
      return;
    }
    case "found":
      break;
  }
  if (found.facts.kind !== "directory") {
    report.error("cwd-not-directory", POINTER, `"${cwd}" is a ${found.facts.kind}, not a directory`);
    return;
  }
  const user = userOf(spec);
  if (user && user.uid > 0 && !mayExecute(user, found.facts))
    report.error("cwd-denied", POINTER, `${user.name} may not enter "${cwd}" (${modeText(found.facts)})`);
};

/** A new filesystem of this type has nothing in it. */
const isEmpty = (type: string | null | undefined): boolean => type === "tmpfs" || type === "ramfs";
