import * as host from "../host/index.ts";
import { type ListenerState, processState } from "./process-state.ts";

/** Send the container process state with the descriptor of the listener, and close the connection. */
export function notifyListener(path: string, metadata: string, descriptor: number, state: ListenerState): void {
  host.sendDescriptor(path, processState(metadata, state), descriptor);
}
