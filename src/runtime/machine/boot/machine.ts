/** The processes of a machine: the hypervisor and the file server. They end with this process. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import type { Interface } from "../network/interface.ts";
import { JAIL } from "../places.ts";
import type { MachineRequest } from "../request.ts";
import { fileServerArguments, hypervisorArguments } from "./hypervisor.ts";

export interface Machine {
  /** Pid of each that runs, and what it is called. */
  readonly programs: Map<number, string>;
  /** This side's end of the channel to the guest. */
  readonly channel: number;
  /** What the programs complain of. */
  readonly complaints: number;
}

const ROOT = 0;
export const HYPERVISOR = "the hypervisor";
const ENVIRONMENT = ["PATH=/usr/bin:/bin"];

export function startMachine(request: MachineRequest, interfaces: readonly Interface[]): Machine {
  const programs = new Map<number, string>();
  const nothing = host.open("/dev/null", host.O.RDWR);
  const [complaints, theirs] = kernel.pipe();
  const files = kernel.listen(JAIL.files);
  host.chown(JAIL.files, request.user, request.user);
  const server = fileServerArguments(request, files);
  programs.set(kernel.spawnCompanion(request.virtiofsd, server, ENVIRONMENT, [nothing, nothing, theirs], [files]), "virtiofsd");
  const [channel, hypervisors] = kernel.streamPair();
  const hypervisor = hypervisorArguments(request, hypervisors, interfaces);
  const stdio = [nothing, request.console ? theirs : nothing, theirs] as const;
  // For a tap it needs rights that it gives up by itself before the guest begins. In both cases it gains none (no_new_privs).
  const user = interfaces.length > 0 ? ROOT : request.user;
  programs.set(kernel.spawnCompanion(request.hypervisor, hypervisor, ENVIRONMENT, stdio, [hypervisors], user), HYPERVISOR);
  for (const fd of [nothing, theirs, files, hypervisors]) host.close(fd);
  kernel.setNonBlocking(channel);
  return { programs, channel, complaints };
}
