/** Volumes of a pod, and the mounts of its containers. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { VolumeInput } from "../schema/volume.ts";
import type { Path, Translation } from "./translation.ts";
import { filesOf } from "./volume-files.ts";

type Volume = NonNullable<TaskInput["volumes"]>[number];
type Mount = NonNullable<TaskInput["containers"][number]["mounts"]>[number];

/** A character that no volume name of a pod may contain, so made-up names never clash with real ones. */
const HOSTS = "etc_hosts";

export function volumesOf(at: Translation): Volume[] {
  const { volumes, hostAliases, hostNetwork } = at.pod.spec;
  const made = volumes.flatMap((volume, index) => volumeOf(at, volume, ["spec", "volumes", index]) ?? []);
  if (hostAliases.length === 0) return made;
  if (hostNetwork) at.refuse("a pod with hostNetwork has /etc/hosts of its image", ["spec", "hostAliases"]);
  const lines = hostAliases.map(({ ip, hostnames }) => [ip, ...hostnames].join("\t"));
  const content = ["127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback", ...lines, ""].join("\n");
  return [...made, { name: HOSTS, files: { hosts: { content } } }];
}

function volumeOf(at: Translation, volume: VolumeInput, path: Path): Volume | undefined {
  const { name, hostPath } = volume;
  const given = Object.entries(volume).filter(([field, value]) => field !== "name" && value !== undefined);
  // A volume without a source is an emptyDir in Kubernetes.
  if (given.length > 1) at.refuse(`has ${given.map(([field]) => field).join(" and ")}: give one`, path);
  if (hostPath !== undefined) {
    return { name, host: hostPath.path, ...(hostPath.type === "" ? {} : { hostType: hostPath.type }) };
  }
  const files = filesOf(at, volume, path);
  return files === undefined ? { name } : { name, files };
}

export function mountsOf(at: Translation, container: ContainerInput, path: Path): Mount[] {
  const { volumes, hostAliases } = at.pod.spec;
  const mounts = container.volumeMounts.flatMap(({ name, mountPath, readOnly, subPath }, index): Mount[] => {
    const volume = volumes.find((one) => one.name === name);
    if (volume === undefined) {
      at.refuse(`the pod has no volume ${name}`, [...path, "volumeMounts", index, "name"], "unknown-reference");
      return [];
    }
    const hasFiles = volume.configMap ?? volume.secret ?? volume.downwardAPI ?? volume.projected;
    return [
      {
        volume: name,
        target: mountPath,
        readOnly: readOnly || hasFiles !== undefined,
        ...(subPath === undefined || subPath === "" ? {} : { subPath }),
      },
    ];
  });
  const isTaken = mounts.some(({ target }) => target === "/etc/hosts");
  return hostAliases.length === 0 || isTaken
    ? mounts
    : [...mounts, { volume: HOSTS, subPath: "hosts", target: "/etc/hosts", readOnly: true }];
}
