import { parseAccounts } from "../../../shared/text/index.ts";
import type { Spec, SpecIdMapping } from "../../spec/index.ts";
import type { Report } from "../finding.ts";
import { absolute, type HostCheck } from "../host/container-files.ts";
import type { BundleView } from "../host/view.ts";
import { namespaceOf } from "./namespaces.ts";

interface Range {
  readonly first: number;
  readonly size: number;
}

/** subuid(5): NAME:FIRST:COUNT, the user by name or number. */
export function parseSubordinates(text: string, names: readonly string[]): readonly Range[] {
  return parseAccounts(text)
    .filter(([name = ""]) => names.includes(name))
    .map(([, first, count]) => ({ first: Number(first), size: Number(count) }));
}

/** passwd(5): the names of a user. */
function namesOf(view: BundleView, uid: number): readonly string[] {
  return [
    String(uid),
    ...parseAccounts(view.text("/etc/passwd") ?? "")
      .filter(([, , id]) => id === String(uid))
      .map(([name]) => name ?? ""),
  ];
}

/** Every id of the mapping is the caller's own, or granted. */
function isGranted({ hostID, size }: SpecIdMapping, own: number, ranges: readonly Range[]): boolean {
  if (hostID === own && size === 1) return true;
  return ranges.some(({ first, size: count }) => hostID >= first && hostID + size <= first + count);
}

/** newuidmap(1): without rights on the host a caller maps its own id, and what /etc/subuid and /etc/subgid grant. */
export const subordinateIds: HostCheck = (spec, report, { view }) => {
  const user = namespaceOf(spec, "user");
  if (!user || user.path) return;
  const { caller } = view.facts;
  if (!caller || caller.uid === 0) return;
  const names = view.live ? namesOf(view, caller.uid) : [];
  checkField(spec, report, "uidMappings", caller.uid, caller.newuidmap, view.live ? view.text("/etc/subuid") : undefined, names);
  checkField(spec, report, "gidMappings", caller.gid, caller.newgidmap, view.live ? view.text("/etc/subgid") : undefined, names);
};

function checkField(
  spec: Spec,
  report: Report,
  field: "uidMappings" | "gidMappings",
  own: number,
  helper: string | undefined,
  granted: string | undefined,
  names: readonly string[],
): void {
  const mappings = spec.linux?.[field] ?? [];
  const [only] = mappings;
  if (mappings.length === 0 || (mappings.length === 1 && only?.hostID === own && only.size === 1)) return;
  if (helper === undefined) {
    const program = field === "uidMappings" ? "newuidmap" : "newgidmap";
    report.error(
      "mappings-helper",
      `/linux/${field}`,
      `linux.${field}: more than the caller's own id needs ${program}, which is not installed`,
    );
    return;
  }
  if (granted === undefined) return;
  const ranges = parseSubordinates(granted, names);
  mappings.forEach((mapping, index) => {
    if (isGranted(mapping, own, ranges)) return;
    const { hostID, size } = mapping;
    const file = field === "uidMappings" ? "/etc/subuid" : "/etc/subgid";
    report.error(
      "mappings-not-granted",
      `/linux/${field}/${index}`,
      `linux.${field}: ${hostID} to ${hostID + size - 1} are not granted to uid ${own} in ${file}`,
    );
  });
}

/** user_namespaces(7): the container's root is another user on the host, who must be able to reach its files. */
export const rootOwner: HostCheck = (spec, report, { view }) => {
  const user = namespaceOf(spec, "user");
  const path = spec.root?.path;
  if (!user || user.path || !path || !view.live || (view.bundle === undefined && !path.startsWith("/"))) return;
  const hostRoot = spec.linux?.uidMappings?.find(({ containerID }) => containerID === 0)?.hostID;
  if (hostRoot === undefined || hostRoot === 0) return;
  const parts = absolute(view.bundle ?? "/", path)
    .split("/")
    .filter((part) => part !== "");
  for (let length = 1; length <= parts.length; length++) {
    const directory = `/${parts.slice(0, length).join("/")}`;
    const facts = view.stat(directory);
    if (facts === undefined || facts === "unknown") return;
    const bits = facts.uid === hostRoot ? facts.mode >> 6 : facts.mode;
    if ((bits & 1) !== 0) continue;
    report.warning(
      "rootfs-unreachable",
      "/root/path",
      `the container's root, uid ${hostRoot} on the host, may not enter ${directory} (mode 0${facts.mode.toString(8)})`,
    );
    return;
  }
};
