import { mayExecute, modeText, userOf } from "../host/access.ts";
import type { HostCheck } from "../host/host-check.ts";

/** config, process: cwd is a directory that the user may enter. One that is not there is made. */
export const workingDirectory: HostCheck = (spec, report, { files }) => {
  const cwd = spec.process?.cwd;
  if (files === undefined || !cwd?.startsWith("/")) return;
  const pointer = "/process/cwd";
  const found = files.find(cwd);
  if (found.status === "not-a-directory")
    report.error("cwd-not-directory", pointer, `"${found.parent}", on the way to "${cwd}", is not a directory`);
  if (found.status === "missing" && found.layer.index === -1 && !spec.root?.readonly)
    report.advice("cwd-missing", pointer, `"${cwd}" is not in the root filesystem and is made, empty and owned by root`);
  if (found.status !== "found") return;
  if (found.facts.kind !== "directory") {
    report.error("cwd-not-directory", pointer, `"${cwd}" is a ${found.facts.kind}, not a directory`);
    return;
  }
  const user = userOf(spec);
  if (user && user.uid > 0 && !mayExecute(user, found.facts))
    report.error("cwd-denied", pointer, `${user.name} may not enter "${cwd}" (${modeText(found.facts)})`);
};
