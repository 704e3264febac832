/** Makes what further containers of a service are made of, for `runtctl scale`. */
import { placeholder, type ReplicaTemplate, type TaskInput } from "../../engine/spec/index.ts";
import type { Place, ServicePlace } from "./place.ts";

/** What further containers of a service are made of. Their names end with a placeholder. */
export function templateOf(
  name: string,
  make: (at: Place, refuse: ServicePlace["refuse"]) => TaskInput,
): ReplicaTemplate | { readonly refused: string } {
  const index = placeholder(name);
  const refused: string[] = [];
  const own = `${name}-${index}`;
  const task = make({ task: own, container: own }, (message) => refused.push(message));
  if (task.network?.address ?? task.network?.further?.some((one) => one.address)) refused.push("its address can be that of one container");
  return refused[0] === undefined ? { task, index } : { refused: refused[0] };
}

/** A port that only the first container has. undefined: there is none. */
export function ownPort({ network }: TaskInput): { readonly refused: string } | undefined {
  const port = network?.ports?.find(({ host, service }) => host !== undefined && service === undefined);
  if (port === undefined) return undefined;
  const way = "set deploy.endpoint_mode: vip, or write deploy.replicas into the file";
  return { refused: `port ${port.host} of the host is that of its only container: ${way}` };
}
