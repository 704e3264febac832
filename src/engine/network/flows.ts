/** Flows of UDP in the kernel's table of connections, which has no program of this host for certain: runt-pause (native-bindings/pause/flows.c). */
import { output } from "./command.ts";
import type { ServicePort } from "./service-rules.ts";

/** Ends the flows to a port of the host that do not lead to one of its tasks. The next packet of such a client begins a new one. @throws NetworkError program-missing, program-failed */
export async function endFlows({ host, address, to }: ServicePort, helper: string, timeoutMs: number): Promise<void> {
  const kept = to.map((one) => `${one.address.split("/")[0]}:${one.port}`).join(",");
  const at = address === undefined || address === "0.0.0.0" ? "-" : address;
  await output(helper, ["flows", at, String(host), kept], timeoutMs);
}
