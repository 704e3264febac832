/** Translates volumes of a pod, and the mounts of its containers. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { imageOrHub, pullPolicyOf } from "../image-name.ts";
import { quantityIn } from "../quantity.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { DownwardFile, KeyItem, VolumeInput } from "../schema/volume.ts";
import { fieldValue, resourceValue } from "./downward.ts";
import { entriesOf } from "./env.ts";
import { networkOf } from "./network.ts";
import type { ObjectKind } from "./objects.ts";
import { credentialsOf } from "./pull-secrets.ts";
import type { Path, Translation } from "./translation.ts";

type Volume = NonNullable<TaskInput["volumes"]>[number];
type Mount = NonNullable<TaskInput["containers"][number]["mounts"]>[number];

/** Volumes of a pod cannot have this name, because it contains an underscore. */
const ETC = "etc_files";

export function volumesOf(at: Translation): Volume[] {
  const { volumes, hostAliases, hostNetwork } = at.pod.spec;
  const made = volumes.flatMap((volume, index) => volumeOf(at, volume, ["spec", "volumes", index]) ?? []);
  if (hostAliases.length > 0 && hostNetwork && at.host.hosts === null)
    at.warn("/etc/hosts of the host is left out: it is too large to be copied", ["spec", "hostAliases"]);
  const files = etcFiles(at);
  return Object.keys(files).length === 0 ? made : [...made, { name: ETC, files }];
}

function volumeOf(at: Translation, volume: VolumeInput, path: Path): Volume | undefined {
  const { name, hostPath } = volume;
  const given = Object.entries(volume).filter(([field, value]) => field !== "name" && value !== undefined);
  // A volume without a source is an emptyDir, as in Kubernetes.
  if (given.length > 1) at.refuse(`has ${given.map(([field]) => field).join(" and ")}: give one`, path);
  if (hostPath !== undefined) {
    return { name, host: hostPath.path, ...(hostPath.type === "" ? {} : { hostType: hostPath.type }) };
  }
  if (volume.image !== undefined) return { name, ...imageOf(at, volume.image, [...path, "image"]) };
  const { fsGroup } = at.pod.spec.securityContext ?? {};
  const group = fsGroup === undefined ? {} : { group: fsGroup };
  if (volume.persistentVolumeClaim !== undefined) {
    const source = at.claims.sourceOf(at.namespace, volume.persistentVolumeClaim.claimName);
    return { name, ...source, ...(source.kept === undefined ? {} : group) };
  }
  const files = filesOf(at, volume, path);
  if (files !== undefined) return { name, files, ...group };
  const { medium, sizeLimit } = volume.emptyDir ?? { medium: "" };
  const size = sizeLimit === undefined ? 0 : quantityIn(sizeLimit);
  // A size limit of 0 means no limit. Source: Kubernetes, EmptyDirVolumeSource.
  return { name, ...(medium === "" ? {} : { medium: "memory" as const }), ...(size === 0 ? {} : { size }), ...group };
}

/** Source: Kubernetes, ImageVolumeSource. */
function imageOf(at: Translation, { reference: written, pullPolicy }: NonNullable<VolumeInput["image"]>, path: Path): Omit<Volume, "name"> {
  const reference = imageOrHub(written, at.host.images);
  if (at.host.cluster !== undefined && !reference.startsWith("docker://"))
    at.refuse("a pod of a cluster has no image that is a file of the host", [...path, "reference"]);
  const credentials = credentialsOf(at);
  return {
    image: reference,
    pullPolicy: pullPolicyOf(pullPolicy, written),
    ...(credentials === undefined || !reference.startsWith("docker://") ? {} : { pullCredentials: credentials }),
  };
}

const LOCALHOST = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback";

/**
 * Files for /etc with entries that the pod adds, with hostNetwork to those of the host. Where the engine makes a network, it also writes /etc/hosts.
 * Source: kubelet, nodeHostsFileContent.
 */
function etcFiles(at: Translation): NonNullable<Volume["files"]> {
  const { hostAliases, hostNetwork } = at.pod.spec;
  if (networkOf(at) !== undefined) return {};
  const lines = hostAliases.map(({ ip, hostnames }) => [ip, ...hostnames].join("\t"));
  const before = (hostNetwork ? at.host.hosts?.trimEnd() : undefined) ?? LOCALHOST;
  return hostAliases.length === 0 ? {} : { hosts: { content: [before, ...lines, ""].join("\n") } };
}

function isReadOnlyClaim({ claims, namespace }: Translation, { persistentVolumeClaim: claim }: VolumeInput): boolean {
  return claim !== undefined && (claim.readOnly || claims.isReadOnly(namespace, claim.claimName));
}

export function mountsOf(at: Translation, container: ContainerInput, env: Readonly<Record<string, string>>, path: Path): Mount[] {
  const { volumes } = at.pod.spec;
  const mounts = container.volumeMounts.flatMap(
    ({ name, mountPath, readOnly, mountPropagation, bindMountOptions, ...parts }, index): Mount[] => {
      const volume = volumes.find((one) => one.name === name);
      if (volume === undefined) {
        at.refuse(`the pod has no volume ${name}`, [...path, "volumeMounts", index, "name"], "unknown-reference");
        return [];
      }
      const subPath = partOf(at, parts, env, [...path, "volumeMounts", index]);
      checkMountOptions(at, container, volume, bindMountOptions, [...path, "volumeMounts", index, "bindMountOptions"]);
      const hasFiles = volume.configMap ?? volume.secret ?? volume.downwardAPI ?? volume.projected;
      return [
        {
          volume: name,
          target: mountPath,
          readOnly: readOnly || hasFiles !== undefined || volume.image !== undefined || isReadOnlyClaim(at, volume),
          ...(volume.image === undefined && !bindMountOptions.includes("noexec") ? {} : { noExec: true as const }),
          ...propagationOf(at, container, volume, mountPropagation, [...path, "volumeMounts", index, "mountPropagation"]),
          // A new claim is empty in Kubernetes: files of the image are not copied to it.
          ...(volume.persistentVolumeClaim === undefined ? {} : { noCopy: true }),
          ...(subPath === undefined || subPath === "" ? {} : { subPath }),
        },
      ];
    },
  );
  const further = Object.keys(etcFiles(at)).filter((name) => !mounts.some(({ target }) => target === `/etc/${name}`));
  return [...mounts, ...further.map((name): Mount => ({ volume: ETC, subPath: name, target: `/etc/${name}`, readOnly: true }))];
}

/** Mounts of a container that is not privileged have nodev and nosuid anyway. Source: Kubernetes, VolumeMount. */
function checkMountOptions(
  at: Translation,
  { securityContext }: ContainerInput,
  { image }: VolumeInput,
  options: ContainerInput["volumeMounts"][number]["bindMountOptions"],
  path: Path,
): void {
  if (image !== undefined && options.length > 0) at.refuse("an image volume has no mount options", path);
  const open = options.find((one) => one !== "noexec");
  if (securityContext?.privileged && open !== undefined) at.refuse(`${open} is not supported for privileged containers`, path);
}

/** Propagation has a meaning only for host paths: nothing is mounted later in other volumes. Source: Kubernetes, "Mount propagation". */
function propagationOf(
  at: Translation,
  { securityContext }: ContainerInput,
  { hostPath }: VolumeInput,
  wanted: ContainerInput["volumeMounts"][number]["mountPropagation"],
  path: Path,
): Pick<Mount, "propagation"> {
  if (wanted === "Bidirectional" && !securityContext?.privileged) at.refuse("Bidirectional is for privileged containers only", path);
  if (wanted === undefined || wanted === "None" || hostPath === undefined) return {};
  return { propagation: wanted === "Bidirectional" ? "rshared" : "rslave" };
}

/** The path within the volume; undefined: the whole volume. */
function partOf(
  at: Translation,
  { subPath, subPathExpr }: Pick<ContainerInput["volumeMounts"][number], "subPath" | "subPathExpr">,
  env: Readonly<Record<string, string>>,
  path: Path,
): string | undefined {
  if (subPathExpr === undefined) return subPath;
  const here: Path = [...path, "subPathExpr"];
  if (subPath !== undefined && subPath !== "") at.refuse("subPath is given, too: give one", here);
  const found = at.expand(subPathExpr, env, here);
  const [missing] = /\$\([^()\s]+\)/.exec(found) ?? [];
  if (missing !== undefined) at.refuse(`the container has no variable for ${missing}`, here, "unknown-reference");
  return found;
}

/** Translates volumes whose content is part of the file: configMap, secret, downwardAPI, projected. */
type Files = NonNullable<NonNullable<TaskInput["volumes"]>[number]["files"]>;

interface Keys {
  readonly name: string;
  readonly items?: readonly KeyItem[] | undefined;
  readonly optional: boolean;
}

/** undefined: the volume is of another kind. */
function filesOf(at: Translation, volume: VolumeInput, path: Path): Files | undefined {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) return keyFiles(at, "ConfigMap", configMap, usualOf(configMap), [...path, "configMap"]);
  if (secret !== undefined) {
    return keyFiles(at, "Secret", { ...secret, name: secret.secretName }, usualOf(secret), [...path, "secret"], "secretName");
  }
  if (downwardAPI !== undefined) return downwardFiles(at, downwardAPI.items, usualOf(downwardAPI), [...path, "downwardAPI"]);
  if (projected === undefined) return undefined;
  const usual = usualOf(projected);
  const files: Files = {};
  for (const [index, source] of projected.sources.entries()) {
    const here: Path = [...path, "projected", "sources", index];
    const given = Object.values(source).filter((one) => one !== undefined).length;
    if (given !== 1) at.refuse("has to name exactly one source", here);
    const further = {
      ...(source.configMap && keyFiles(at, "ConfigMap", source.configMap, usual, [...here, "configMap"])),
      ...(source.secret && keyFiles(at, "Secret", source.secret, usual, [...here, "secret"])),
      ...(source.downwardAPI && downwardFiles(at, source.downwardAPI.items, usual, [...here, "downwardAPI"])),
    };
    for (const name of Object.keys(further)) if (name in files) at.refuse(`the file ${name} is there twice`, here, "duplicate-name");
    Object.assign(files, further);
  }
  return files;
}

/** Mode and owner of a file that says none. */
interface Usual {
  readonly mode: number;
  readonly uid?: number;
}

function usualOf({
  defaultMode: mode,
  defaultUser: uid,
}: {
  readonly defaultMode: number;
  readonly defaultUser?: number | undefined;
}): Usual {
  return { mode, ...(uid === undefined ? {} : { uid }) };
}

function rightsOf({ mode, user: uid }: { readonly mode?: number | undefined; readonly user?: number | undefined }, usual: Usual): Usual {
  return { ...usual, ...(mode === undefined ? {} : { mode }), ...(uid === undefined ? {} : { uid }) };
}

/** @param field the field below `path` that holds the name */
function keyFiles(at: Translation, kind: ObjectKind, ref: Keys, usual: Usual, path: Path, field = "name"): Files {
  const entries = entriesOf(at, kind, ref, [...path, field]);
  if (entries === undefined) return {};
  // As without the list. Source: Kubernetes, MakePayload of its volumes.
  if ((ref.items ?? []).length === 0) return Object.fromEntries([...entries].map(([key, content]) => [key, { ...content, ...usual }]));
  const files: Files = {};
  for (const [index, item] of ref.items!.entries()) {
    const content = entries.get(item.key);
    if (content !== undefined) files[item.path] = { ...content, ...rightsOf(item, usual) };
    else if (!ref.optional) at.refuse(`${kind} ${ref.name} has no key ${item.key}`, [...path, "items", index, "key"], "unknown-reference");
  }
  return files;
}

function downwardFiles(at: Translation, items: readonly DownwardFile[], usual: Usual, path: Path): Files {
  const files: Files = {};
  for (const [index, { path: name, fieldRef, resourceFieldRef, ...rights }] of items.entries()) {
    const here: Path = [...path, "items", index];
    const content =
      fieldRef === undefined
        ? resourceValue(at, undefined, resourceFieldRef!, [...here, "resourceFieldRef"])
        : fieldValue(at, fieldRef, [...here, "fieldRef"], "file");
    if (content !== undefined) files[name] = { content, ...rightsOf(rights, usual) };
  }
  return files;
}
