/** One call of containerd's task service: `ctr` has no `update`. */
import { Channel } from "./grpc.ts";
import { encode } from "./protobuf.ts";

const METHOD = "/containerd.services.tasks.v1.Tasks/Update";
const RESOURCES_TYPE = "types.containerd.io/opencontainers/runtime-spec/1/LinuxResources";

const UpdateTaskRequest = { container: [1, "string"], resources: [2, { typeUrl: [1, "string"], value: [2, "string"] }] } as const;

export async function updateTask(socket: string, namespace: string, container: string, resources: string): Promise<void> {
  const channel = new Channel(socket, { "containerd-namespace": namespace });
  try {
    await channel.unary(METHOD, encode(UpdateTaskRequest, { container, resources: { typeUrl: RESOURCES_TYPE, value: resources } }));
  } finally {
    channel.close();
  }
}
