/** Flows of UDP in the kernel's table of connections, which has no program of this host for certain: runt-pause (native-bindings/pause/flows.c). */
import { output } from "./command.ts";

export interface FlowsTo {
  /** Address to which clients have sent; undefined: all addresses that the namespace has. */
  readonly address: string | undefined;
  readonly port: number;
  /** Such as "10.64.0.2:53": flows that lead there go on. */
  readonly kept: readonly string[];
}

export interface FlowsIn {
  /** Path of runt-pause. */
  readonly helper: string;
  /** Path of a network namespace; undefined: that of the host. */
  readonly namespace?: string;
  readonly timeoutMs: number;
}

/** Ends flows of clients. The next packet of such a client begins a new one. @throws NetworkError program-missing, program-failed */
export async function endFlows({ address, port, kept }: FlowsTo, { helper, namespace, timeoutMs }: FlowsIn): Promise<void> {
  const command = [helper, "flows", address === undefined || address === "0.0.0.0" ? "-" : address, String(port), kept.join(",")];
  const [program, ...args] = namespace === undefined ? command : ["nsenter", `--net=${namespace}`, ...command];
  await output(program!, args, timeoutMs);
}
