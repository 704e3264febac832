/** Why a container has something else under Podman than under runt. What has no reason in this table is a defect of runt, or a new difference. */
import { listOf } from "../compose-model/view.ts";
import type { Difference } from "./compare.ts";
import type { StubPod } from "./stub.ts";

interface Reason {
  readonly field: RegExp;
  readonly why: string;
  readonly isIt?: (difference: Difference, pod: StubPod) => boolean;
}

const onlyPodman = ({ runt }: Difference) => runt === undefined;
const options = (value: unknown) => listOf(value).map(String);
/** Whether the two lists differ in these words alone. */
const differIn =
  (...words: readonly string[]) =>
  ({ podman, runt }: Difference) =>
    podman !== undefined &&
    runt !== undefined &&
    JSON.stringify(options(podman).filter((one) => !words.includes(one))) ===
      JSON.stringify(options(runt).filter((one) => !words.includes(one)));

const REASONS: readonly Reason[] = [
  {
    field: /^(?:hostname|environment HOSTNAME)$/,
    why: "Podman calls the pod of a workload NAME-pod; runt counts the pods of a workload",
    isIt: ({ podman, runt }, { name }) => podman === `${name}-pod` && runt === `${name}-0`,
  },
  {
    field: /^environment [A-Z0-9_]+_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$/,
    why: "a kubelet sets variables for the services of the namespace, Podman does not",
    isIt: ({ podman }) => podman === undefined,
  },
  { field: /^environment container$/, why: "Podman sets this variable, a kubelet does not", isIt: onlyPodman },
  {
    field: /^capabilities$/,
    why: "Podman leaves out MKNOD and AUDIT_WRITE, which containers of a kubelet have",
    isIt: differIn("CAP_MKNOD", "CAP_AUDIT_WRITE"),
  },
  { field: /^mount \/$/, why: "the root of runt has no devices", isIt: differIn("nodev") },
  {
    field: /^mount \/dev\/termination-log$/,
    why: "Podman makes no file for the message at the end",
    isIt: ({ podman }) => podman === undefined,
  },
  { field: /^mount \/run\/\.containerenv$/, why: "Podman marks its containers with this file", isIt: onlyPodman },
  { field: /^mount \/(?:run|tmp|var\/tmp)$/, why: "Podman mounts an empty directory in memory there", isIt: onlyPodman },
  {
    field: /^mount \//,
    why: "a kubelet mounts ConfigMaps and Secrets read-only, Podman does not",
    isIt: (difference, { containers }) =>
      options(difference.runt).includes("ro") &&
      differIn("ro", "rw")(difference) &&
      containers.some(({ files }) => files.some((place) => difference.field === `mount ${place.replace(/\/$/, "")}`)),
  },
  { field: /^mount \/dev\/mqueue$/, why: "runt does not mount the message queues of the host with hostIPC", isIt: onlyPodman },
  { field: /^mount \/etc\/(?:group|passwd)$/, why: "Podman adds the user's missing group or account to the file", isIt: onlyPodman },
  {
    field: /^cgroup pids\/pids\.max$/,
    why: "Podman allows a container 2048 processes, a kubelet sets no limit of its own",
    isIt: ({ podman, runt }) => podman === "2048" && runt === "max",
  },
  {
    field: /^(?:cgroup .*|mount \/sys\/fs\/cgroup(?:\/.*)?)$/,
    why: "runt mounts no cgroups of v1; limits are compared from outside by other tests",
    isIt: onlyPodman,
  },
  {
    field: /^mount \/etc\/(?:hosts|hostname|resolv\.conf)$/,
    why: "runt mounts the files of a network read-only",
    isIt: ({ podman, runt }) => podman !== undefined && options(runt).includes("ro"),
  },
  {
    field: /^(?:ports|pings)$/,
    why: "on a bridge of runt, as under containerd 2, any user may listen on low ports and ping",
    isIt: ({ field, runt }) => runt === (field === "ports" ? "0" : "0 2147483647"),
  },
  {
    field: /^mount \/(?:proc|sys)\//,
    why: "both hide or protect the path, with other mounts",
    isIt: ({ podman, runt }) => podman !== undefined && runt !== undefined,
  },
];

/** undefined: there is none. */
export function reasonOf(difference: Difference, pod: StubPod): string | undefined {
  return REASONS.find(({ field, isIt }) => field.test(difference.field) && (isIt?.(difference, pod) ?? true))?.why;
}
