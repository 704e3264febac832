/** Translates volumes of a pod, and the mounts of its containers. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { quantityIn } from "../quantity.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { PodInput } from "../schema/pod.ts";
import type { VolumeInput } from "../schema/volume.ts";
import type { Path, Translation } from "./translation.ts";
import { filesOf } from "./volume-files.ts";

type PodSpec = PodInput["spec"];
type Volume = NonNullable<TaskInput["volumes"]>[number];
type Mount = NonNullable<TaskInput["containers"][number]["mounts"]>[number];

/** Volumes of a pod cannot have this name, because it contains an underscore. */
const ETC = "etc_files";

export function volumesOf(at: Translation): Volume[] {
  const { volumes, hostAliases, hostNetwork } = at.pod.spec;
  const made = volumes.flatMap((volume, index) => volumeOf(at, volume, ["spec", "volumes", index]) ?? []);
  if (hostAliases.length > 0 && hostNetwork) at.refuse("a pod with hostNetwork has /etc/hosts of its image", ["spec", "hostAliases"]);
  const files = etcFiles(at.pod.spec);
  return Object.keys(files).length === 0 ? made : [...made, { name: ETC, files }];
}

function volumeOf(at: Translation, volume: VolumeInput, path: Path): Volume | undefined {
  const { name, hostPath } = volume;
  const given = Object.entries(volume).filter(([field, value]) => field !== "name" && value !== undefined);
  // A volume without a source is an emptyDir in Kubernetes.
  if (given.length > 1) at.refuse(`has ${given.map(([field]) => field).join(" and ")}: give one`, path);
  if (hostPath !== undefined) {
    return { name, host: hostPath.path, ...(hostPath.type === "" ? {} : { hostType: hostPath.type }) };
  }
  if (volume.persistentVolumeClaim !== undefined)
    return { name, ...at.claims.sourceOf(at.namespace, volume.persistentVolumeClaim.claimName) };
  const { fsGroup } = at.pod.spec.securityContext ?? {};
  const group = fsGroup === undefined ? {} : { group: fsGroup };
  const files = filesOf(at, volume, path);
  if (files !== undefined) return { name, files, ...group };
  const { medium, sizeLimit } = volume.emptyDir ?? { medium: "" };
  const size = sizeLimit === undefined ? 0 : quantityIn(sizeLimit);
  // A size limit of 0 means no limit. Source: Kubernetes, EmptyDirVolumeSource.
  return { name, ...(medium === "" ? {} : { medium: "memory" as const }), ...(size === 0 ? {} : { size }), ...group };
}

/** Files in /etc for which the pod sets more than the image has. */
function etcFiles({ hostAliases }: PodSpec): NonNullable<Volume["files"]> {
  const lines = hostAliases.map(({ ip, hostnames }) => [ip, ...hostnames].join("\t"));
  const hosts = ["127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback", ...lines, ""].join("\n");
  return hostAliases.length === 0 ? {} : { hosts: { content: hosts } };
}

function isReadOnlyClaim({ claims, namespace }: Translation, { persistentVolumeClaim: claim }: VolumeInput): boolean {
  return claim !== undefined && (claim.readOnly || claims.isReadOnly(namespace, claim.claimName));
}

export function mountsOf(at: Translation, container: ContainerInput, path: Path): Mount[] {
  const { volumes } = at.pod.spec;
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
        readOnly: readOnly || hasFiles !== undefined || isReadOnlyClaim(at, volume),
        // A new volume of Kubernetes is empty.
        ...(volume.persistentVolumeClaim === undefined ? {} : { noCopy: true }),
        ...(subPath === undefined || subPath === "" ? {} : { subPath }),
      },
    ];
  });
  const further = Object.keys(etcFiles(at.pod.spec)).filter((name) => !mounts.some(({ target }) => target === `/etc/${name}`));
  return [...mounts, ...further.map((name): Mount => ({ volume: ETC, subPath: name, target: `/etc/${name}`, readOnly: true }))];
}
