/** The processes of a machine: the hypervisor and the file server. They end with this process. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import type { Interface } from "../network/links.ts";
import { JAIL } from "../places.ts";
import type { MachineRequest } from "../request.ts";
import { openDisks } from "./disks.ts";
import { fileServerArguments, hypervisorArguments } from "./hypervisor.ts";

export interface Machine {
  /** Pid of each that runs, and what it is called. */
  readonly programs: Map<number, string>;
  /** This side's end of the channel to the guest. */
  readonly channel: number;
  /** What the programs complain of. */
  readonly complaints: number;
  /** What the guest prints on its console. It ends at once if the machine has none. */
  readonly console: number;
}

const ROOT = 0;
/** A signal for everything in the cgroup is the container's affair: by these the programs would end. What is killed or stopped is so in any case. */
const ENV = "/usr/bin/env";
const BLOCKED = "--block-signal=HUP,INT,QUIT,USR1,USR2,ALRM,TERM,PWR";

export const HYPERVISOR = "the hypervisor";
export const ENVIRONMENT = ["PATH=/usr/bin:/bin"];

type Rest = readonly [stdio: readonly [number, number, number], inherit: readonly number[], user?: number];

export function startMachine(request: MachineRequest, accelerator: "tcg" | "kvm", interfaces: readonly Interface[]): Machine {
  const programs = new Map<number, string>();
  const nothing = host.open("/dev/null", host.O.RDWR);
  const [complaints, theirs] = kernel.pipe();
  const [console, theirConsole] = kernel.pipe();
  const files = kernel.listen(JAIL.files);
  host.chown(JAIL.files, request.user, request.user);
  const server = fileServerArguments(request, files);
  const begin = ([program, ...args]: readonly string[], ...rest: Rest): number => {
    if (!host.stat(program!)) throw new Error(`execve ${program}: no such file or directory`);
    return kernel.spawnCompanion(ENV, ["env", BLOCKED, program!, ...args], ENVIRONMENT, ...rest);
  };
  programs.set(begin(server, [nothing, nothing, theirs], [files]), "virtiofsd");
  const [channel, hypervisors] = kernel.streamPair();
  const disks = openDisks(request.disks);
  const open = request.disks.map(({ readonly }, number) => ({ fd: disks[number]!, readonly }));
  const hypervisor = hypervisorArguments(request, accelerator, hypervisors, interfaces, open);
  // The console is the output of the hypervisor, whose input is empty: nobody can write to it.
  const stdio = [nothing, request.console ? theirConsole : nothing, theirs] as const;
  // For a tap it needs rights that it gives up by itself before the guest begins. In both cases it gains none (no_new_privs).
  const user = interfaces.length > 0 ? ROOT : request.user;
  programs.set(begin(hypervisor, stdio, [hypervisors, ...disks], user), HYPERVISOR);
  for (const fd of [nothing, theirs, theirConsole, files, hypervisors, ...disks]) host.close(fd);
  kernel.setNonBlocking(channel);
  return { programs, channel, complaints, console };
}
