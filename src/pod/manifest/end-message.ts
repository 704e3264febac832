/** The file in which a container of a pod says why it ends. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ContainerInput } from "../schema/container.ts";

type Container = TaskInput["containers"][number];

/** Source: Kubernetes API reference, Container.terminationMessagePath. */
const DEFAULT_PATH = "/dev/termination-log";

/** If the default path is within a volume of the pod, no file is made there, because the manifest does not ask for one. */
export function endMessageOf(
  { terminationMessagePath: given, terminationMessagePolicy: policy }: ContainerInput,
  mounts: NonNullable<Container["mounts"]>,
): Pick<Container, "endMessage"> {
  const path = given ? `/${given.replace(/^\/+/, "")}` : DEFAULT_PATH;
  const isWithin = mounts.some(({ target }) => `${path}/`.startsWith(`${target.replace(/\/+$/, "")}/`));
  if (path === DEFAULT_PATH && isWithin) return {};
  return { endMessage: { path, ...(policy === "File" ? {} : { orLog: true }) } };
}
