/** Refuses everything by which a pod of a cluster could reach the host. */
import { parseReference } from "../../engine/spec/index.ts";
import { ROOTFS } from "./container.ts";
import type { Member } from "./members.ts";
import type { Path, Translation } from "./translation.ts";

/** Source: Kubernetes, "Using sysctls in a Kubernetes Cluster", "Safe and Unsafe Sysctls". */
const SAFE_SYSCTLS: ReadonlySet<string> = new Set([
  ...["kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range"],
  ...["net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time"],
  ...["net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"],
]);

const PROFILE = "a pod of a cluster runs under the profile restricted";

export function checkRestricted(at: Translation, members: readonly Member[]): void {
  const rules = at.host.cluster;
  if (rules === undefined) return;
  const refuse = (what: string, path: Path) => at.refuse(`${what}: ${PROFILE}`, path);
  const { spec, metadata } = at.pod;
  for (const field of ["hostNetwork", "hostPID", "hostIPC"] as const) {
    if (spec[field]) refuse("it has no namespace of the host", ["spec", field]);
  }
  for (const key of Object.keys(metadata.annotations ?? {})) {
    if (key.startsWith(ROOTFS)) refuse("it has no root file system of the host", ["metadata", "annotations", key]);
  }
  for (const [index, { hostPath }] of spec.volumes.entries()) {
    if (hostPath === undefined) continue;
    const path: Path = ["spec", "volumes", index, "hostPath", "path"];
    // The path is checked for links when it is mounted (engine/volumes/within.ts).
    if (!rules.hostPaths.some((one) => isBelow(hostPath.path, one))) refuse("it is below no directory that pods may mount", path);
  }
  for (const [index, { name }] of (spec.securityContext?.sysctls ?? []).entries()) {
    if (!SAFE_SYSCTLS.has(name)) refuse(`${name} is not safe`, ["spec", "securityContext", "sysctls", index]);
  }
  if (spec.securityContext?.seccompProfile?.type === "Unconfined")
    refuse("it has a filter of system calls", ["spec", "securityContext", "seccompProfile"]);
  for (const { container, path } of members) {
    const { capabilities, seccompProfile, privileged } = container.securityContext ?? {};
    if (privileged) refuse("it is not privileged", [...path, "securityContext", "privileged"]);
    if ((capabilities?.add ?? []).length > 0) refuse("it gets no more capabilities", [...path, "securityContext", "capabilities", "add"]);
    if (seccompProfile?.type === "Unconfined") refuse("it has a filter of system calls", [...path, "securityContext", "seccompProfile"]);
    if (container.image !== undefined && (parseReference(container.image)?.transport ?? "docker") !== "docker")
      refuse("its image is no file of the host", [...path, "image"]);
    for (const [index, { name, subPath }] of container.volumeMounts.entries()) {
      const isHost = spec.volumes.find((volume) => volume.name === name)?.hostPath !== undefined;
      if (isHost && subPath !== undefined && subPath !== "")
        refuse("a part of a directory of the host is not looked for", [...path, "volumeMounts", index, "subPath"]);
    }
  }
}

function isBelow(path: string, directory: string): boolean {
  const base = directory.endsWith("/") ? directory : `${directory}/`;
  return path === directory || path.startsWith(base);
}
