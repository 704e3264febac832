/** Findings about what engines for Kubernetes write into annotations. */
import { type Entries, entry } from "../catalogue/entry.ts";

const CRI = "io.kubernetes.cri";
const TYPE = `/annotations/${CRI}.container-type`;
const ID = `/annotations/${CRI}.sandbox-id`;
const SIZE = `/annotations/${CRI}.sandbox`;
const SOURCE = "annotations of CRI engines";
const POD = { [TYPE]: "sandbox", [ID]: "p1" };
const ROOT = "/run/runt";

export const PODS: Entries = {
  "container-type": entry(
    "error",
    "Neither a sandbox nor a container",
    SOURCE,
    "The engine says in an annotation what it makes of the bundle. A word that no engine writes means that something else was meant.",
    "write sandbox or container, or leave the annotation out",
    { broken: { [ID]: "p1", [TYPE]: "pod" }, fixed: POD, at: TYPE },
  ),
  "sandbox-id-missing": entry(
    "warning",
    "Part of a pod without the id of its sandbox",
    SOURCE,
    "Engines write the id of the sandbox beside the type. Programs that list the containers of a pod do not find this one.",
    "add the annotation of the same engine that names the sandbox",
    { broken: { [TYPE]: "sandbox" }, fixed: POD },
  ),
  "sandbox-conflict": entry(
    "advice",
    "Annotations of two engines that differ",
    SOURCE,
    "The annotations of containerd count before those of CRI-O, and these before those of dockershim.",
    "leave the annotations of one engine",
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
    "A quota needs a period to be a part of; less than a MiB is rounded down to nothing.",
    "give both, in microseconds; memory in bytes",
    {
      broken: { ...POD, [`${SIZE}-cpu-quota`]: "50000" },
      fixed: { ...POD, [`${SIZE}-cpu-quota`]: "50000", [`${SIZE}-cpu-period`]: "100000" },
      at: `${SIZE}-cpu-quota`,
    },
  ),
  "sandbox-size-unused": entry(
    "advice",
    "The size of a pod on something else than its sandbox",
    SOURCE,
    "The sandbox is made first, and what is made for the whole pod is made with it. Containers have linux.resources.",
    "move it to the sandbox",
    { broken: { [`${SIZE}-memory`]: "67108864" }, fixed: { ...POD, [`${SIZE}-memory`]: "67108864" } },
  ),
  "sandbox-gone": entry(
    "warning",
    "The sandbox is not there",
    SOURCE,
    "The container belongs to a sandbox that this runtime has no container of: it has ended, or --root is another directory.",
    "make the sandbox first, or pass its --root",
    {
      broken: { [TYPE]: "container", [ID]: "p2" },
      fixed: { [TYPE]: "container", [ID]: "p1" },
      at: ID,
      facts: { caller: { stateRoot: ROOT } },
      files: { [`${ROOT}/p1`]: { kind: "directory" } },
    },
  ),
  "sandbox-above-host": entry(
    "advice",
    "A pod of more memory than there is",
    SOURCE,
    "It can never use that much: nothing is limited, and no machine can be made of that size.",
    "write what the pod needs, in bytes",
    { broken: { ...POD, [`${SIZE}-memory`]: "68719476736" }, fixed: { ...POD, [`${SIZE}-memory`]: "67108864" }, at: `${SIZE}-memory` },
  ),
};
