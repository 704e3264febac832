/** The cgroups that daemons of tests are in themselves. */
import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { cgroupsNamed } from "./kernel-files.ts";

/** A daemon that was killed leaves the cgroups that it was in: the next one would remove them. */
export function removeDaemonCgroups(): void {
  for (const base of daemonCgroups()) {
    const effects = existsSync(join(base, "effects")) ? readdirSync(join(base, "effects"), { withFileTypes: true }) : [];
    const own = effects.filter((entry) => entry.isDirectory()).map(({ name }) => join(base, "effects", name));
    for (const path of [...own, join(base, "effects"), join(base, "monitors"), base]) {
      try {
        rmdirSync(path);
      } catch {
        // What is left is found at the end of the file.
      }
    }
  }
}

/** What else there is below the cgroup of the tests, in every hierarchy; a directory comes before what is in it. */
export function taskCgroups(): string[] {
  const bases = daemonCgroups();
  const own = bases.flatMap((base) => [`${base}/effects`, `${base}/monitors`]);
  return cgroupsNamed(CGROUP_PARENT.slice(1)).filter(
    (path) => !bases.includes(path) && !own.some((one) => path === one || path.startsWith(`${one}/`)),
  );
}

/** Where daemons of tests have cgroups of their own: in one hierarchy. */
function daemonCgroups(): string[] {
  return readdirSync("/sys/fs/cgroup")
    .flatMap((name) => [`/sys/fs/cgroup/${name}${CGROUP_PARENT}`, `/sys/fs/cgroup${CGROUP_PARENT}`])
    .filter((path, index, all) => ["effects", "monitors"].some((name) => existsSync(join(path, name))) && all.indexOf(path) === index);
}
