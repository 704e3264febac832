/** Findings about what engines for Kubernetes write into annotations. */
import { type Entries, entry } from "../catalogue/entry.ts";

const CRI = "io.kubernetes.cri";
const TYPE = `/annotations/${CRI}.container-type`;
const ID = `/annotations/${CRI}.sandbox-id`;
const SIZE = `/annotations/${CRI}.sandbox`;
const KATA = "/annotations/io.katacontainers.config.hypervisor";
const SOURCE = "annotations of CRI engines";
const POD = { [TYPE]: "sandbox", [ID]: "p1" };
const ROOT = "/run/runt";

export const PODS: Entries = {
  "container-type": entry(
    "error",
    "The type is neither sandbox nor container",
    SOURCE,
    "An annotation of the engine says whether the bundle is a sandbox or a container. No engine writes this value, so it is a mistake.",
    "write sandbox or container, or leave the annotation out",
    { broken: { [ID]: "p1", [TYPE]: "pod" }, fixed: POD, at: TYPE },
  ),
  "sandbox-id-missing": entry(
    "warning",
    "A part of a pod without the id of its sandbox",
    SOURCE,
    "Engines write the id of the sandbox beside the type. Programs that list the containers of a pod do not find this container.",
    "add the annotation of the same engine that names the sandbox",
    { broken: { [TYPE]: "sandbox" }, fixed: POD },
  ),
  "sandbox-conflict": entry(
    "advice",
    "Annotations of two engines that differ",
    SOURCE,
    "The annotations of containerd take precedence over those of CRI-O, and these over those of dockershim.",
    "keep the annotations of one engine",
    { broken: { ...POD, "/annotations/io.kubernetes.docker.type": "container" }, fixed: POD, at: "/annotations/io.kubernetes.docker.type" },
  ),
  "sandbox-size-syntax": entry(
    "warning",
    "A size of a pod that is not a number",
    SOURCE,
    "A value that is not a number counts as 0, which means no limit.",
    "write an integer: bytes, microseconds, or shares",
    { broken: { ...POD, [`${SIZE}-memory`]: "64Mi" }, fixed: { ...POD, [`${SIZE}-memory`]: "67108864" }, at: `${SIZE}-memory` },
  ),
  "sandbox-size-odd": entry(
    "advice",
    "A size of a pod that limits nothing",
    SOURCE,
    "A quota needs a period, and memory below one MiB is rounded down to 0.",
    "give quota and period in microseconds, and memory in bytes",
    {
      broken: { ...POD, [`${SIZE}-cpu-quota`]: "50000" },
      fixed: { ...POD, [`${SIZE}-cpu-quota`]: "50000", [`${SIZE}-cpu-period`]: "100000" },
      at: `${SIZE}-cpu-quota`,
    },
  ),
  "sandbox-size-unused": entry(
    "advice",
    "The size of a pod on a container that is not its sandbox",
    SOURCE,
    "The sandbox is made first, together with everything for the whole pod. Containers have linux.resources.",
    "move it to the sandbox",
    { broken: { [`${SIZE}-memory`]: "67108864" }, fixed: { ...POD, [`${SIZE}-memory`]: "67108864" } },
  ),
  "sandbox-gone": entry(
    "warning",
    "The sandbox is missing",
    SOURCE,
    "This runtime does not know the container's sandbox: the sandbox has ended, or --root is another directory.",
    "make the sandbox first, or pass its --root",
    {
      broken: { [TYPE]: "container", [ID]: "p2" },
      fixed: { [TYPE]: "container", [ID]: "p1" },
      at: ID,
      facts: { caller: { stateRoot: ROOT } },
      files: { [`${ROOT}/p1`]: { kind: "directory" } },
    },
  ),
  "kata-annotation": entry(
    "warning",
    "An annotation of Kata Containers without an effect",
    "Kata Containers, pod annotations",
    "It changes the machine of a pod under Kata. Without `--isolation vm` it has no effect; with it, `create` refuses it or ignores it, for the reason that the finding names.",
    "leave it out, or give it the value that asks for nothing",
    { broken: { [`${KATA}.enable_iommu`]: "true" }, fixed: { [`${KATA}.enable_iommu`]: "false" } },
  ),
  "sandbox-above-host": entry(
    "advice",
    "A pod with more memory than the host",
    SOURCE,
    "The pod can never use that much, so the size limits nothing, and no machine can have it.",
    "write the memory that the pod needs, in bytes",
    { broken: { ...POD, [`${SIZE}-memory`]: "68719476736" }, fixed: { ...POD, [`${SIZE}-memory`]: "67108864" }, at: `${SIZE}-memory` },
  ),
};
