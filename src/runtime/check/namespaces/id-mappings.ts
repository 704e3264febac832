import type { SpecIdMapping } from "../../spec/index.ts";
import type { Check, Report } from "../finding.ts";
import { namespaceOf } from "./namespaces.ts";

type Mappings = readonly SpecIdMapping[];
type Field = "uidMappings" | "gidMappings";

const IDS = 2 ** 32;

/** UID_GID_MAP_MAX_EXTENTS of user_namespaces(7). */
const MOST_ENTRIES = 340;

export function isMapped(mappings: Mappings, id: number): boolean {
  return mappings.some(({ containerID, size }) => id >= containerID && id - containerID < size);
}

/** config-linux, user namespace mappings: they are for a user namespace. */
export const mappingsNeedUserNamespace: Check = (spec, report) => {
  if (namespaceOf(spec, "user")) return;
  for (const field of ["uidMappings", "gidMappings"] as const) {
    if ((spec.linux?.[field]?.length ?? 0) === 0) continue;
    report.error(
      "mappings-without-namespace",
      `/linux/${field}`,
      `linux.${field}: user namespace mappings without a user namespace`,
      "add a user namespace",
    );
  }
};

/** A new user namespace needs both maps, and root in them: the set-up runs as the container's root. For a joined one they have no effect. */
export const userNamespaceMappings: Check = (spec, report) => {
  const namespace = namespaceOf(spec, "user");
  if (!namespace) return;
  for (const field of ["uidMappings", "gidMappings"] as const) {
    const mappings = spec.linux?.[field] ?? [];
    const pointer = `/linux/${field}`;
    if (namespace.path) {
      // Podman writes a placeholder map for a joined namespace, which old versions of runc asked for.
      if (mappings.length > 0)
        report.warning("mappings-ignored", pointer, `linux.${field}: have no effect on a user namespace that is joined by path`);
    } else if (mappings.length === 0) report.error("mappings-missing", pointer, `linux.${field}: a new user namespace needs mappings`);
    else if (!isMapped(mappings, 0)) report.error("mappings-root", pointer, `linux.${field}: id 0 of the container is not mapped`);
  }
};

/** No entry begins before the one in front of it has ended: quicker to see than which two overlap. */
function isDisjoint(mappings: Mappings, field: "containerID" | "hostID"): boolean {
  if (mappings.length < 2) return true;
  const sorted = [...mappings].sort((one, other) => one[field] - other[field]);
  return sorted.every((entry, index) => index === 0 || sorted[index - 1]![field] + sorted[index - 1]!.size <= entry[field]);
}

/** user_namespaces(7): not empty, in range, not overlapping, at most 340. `name` is what a message calls the list. */
export function checkMappings(report: Report, pointer: string, name: string, mappings: Mappings): void {
  if (mappings.length > MOST_ENTRIES) {
    report.error("mappings-many", pointer, `${name}: ${mappings.length} entries, the kernel takes ${MOST_ENTRIES}`);
    return;
  }
  const disjoint = isDisjoint(mappings, "containerID") && isDisjoint(mappings, "hostID");
  mappings.forEach(({ containerID, hostID, size }, index) => {
    const entry = `${pointer}/${index}`;
    if (size === 0) report.error("mapping-empty", `${entry}/size`, `${name}: size must not be 0`);
    if (containerID + size > IDS || hostID + size > IDS) report.error("mapping-range", entry, `${name}: ids above 4294967295`);
    if (disjoint) return;
    for (const other of mappings.slice(0, index)) {
      const overlaps = (a: number, aSize: number, b: number, bSize: number) => a < b + bSize && b < a + aSize;
      if (overlaps(containerID, size, other.containerID, other.size) || overlaps(hostID, size, other.hostID, other.size)) {
        report.error("mapping-overlap", entry, `${name}: entries overlap`);
        return;
      }
    }
  });
}

export const userMappings: Check = ({ linux }, report) =>
  checkMappings(report, "/linux/uidMappings", "linux.uidMappings", linux?.uidMappings ?? []);
export const groupMappings: Check = ({ linux }, report) =>
  checkMappings(report, "/linux/gidMappings", "linux.gidMappings", linux?.gidMappings ?? []);

/** config, POSIX user: the ids of the process exist in a new user namespace. */
export const mappedUser: Check = (spec, report) => {
  const namespace = namespaceOf(spec, "user");
  const user = spec.process?.user;
  if (!namespace || namespace.path || !user) return;
  const check = (field: Field, pointer: string, id: number) => {
    const mappings = spec.linux?.[field] ?? [];
    if (mappings.length > 0 && !isMapped(mappings, id))
      report.error("user-not-mapped", pointer, `process.user: id ${id} is not mapped in linux.${field}`);
  };
  check("uidMappings", "/process/user/uid", user.uid ?? 0);
  check("gidMappings", "/process/user/gid", user.gid ?? 0);
  user.additionalGids?.forEach((gid, index) => {
    check("gidMappings", `/process/user/additionalGids/${index}`, gid);
  });
};

/** user_namespaces(7): without privileges only a user namespace makes the rest possible. */
export const rootlessIds: Check = (spec, report, facts) => {
  if (facts.rootless && !namespaceOf(spec, "user")) {
    report.error(
      "rootless-user-namespace",
      "/linux/namespaces",
      "rootless containers require a user namespace",
      "runt spec --rootless writes such a configuration",
    );
  }
};
