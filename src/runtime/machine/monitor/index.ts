/**
 * The monitor of a machine: the process that engines see as the container's. It is the first process of a pid namespace on the host, so the hypervisor
 * and the file server end with it, however it ends. It ends with the status of the container.
 */
import * as host from "../../host/index.ts";
import { ProtocolError, type SessionEvent } from "../channel/index.ts";
import { Inlet, Loop } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import { fromEnvironment, type MachineRequest } from "../request.ts";
import { Clients } from "./clients.ts";
import { HYPERVISOR, startMachine } from "./machine.ts";
import { OwnStream } from "./own-stream.ts";
import { Port } from "./port.ts";

/** Of a machine that could not be, or broke: as a shell says it of a program that it cannot run. */
const BROKEN = 125;
/** What is kept of the complaints of the hypervisor and the file server. */
const COMPLAINTS_MOST = 2000;
const AFTER_END_MS = 200;

export function monitor(): never {
  const request = fromEnvironment(host.getenv) as MachineRequest;
  host.blockSignals();
  const loop = new Loop();
  const { programs, channel, complaints } = startMachine(request);
  let complaint = "";
  const endings: string[] = [];
  let clients: Clients | undefined;

  /** The machine is gone or not to be trusted: with this process everything ends. */
  function broken(reason: string): never {
    const said = complaint.trim();
    host.write(2, `runt: machine: ${reason}${said === "" ? "" : `: ${said}`}\n`);
    return host.exit(BROKEN);
  }

  function event(of: SessionEvent): void {
    if (of.what === "hello") {
      const { version, commit } = of.hello;
      if (version !== host.build.version || commit !== host.build.commit) {
        broken(`the guest image is of runt ${version} (${commit}), this is ${host.build.version} (${host.build.commit}): make it anew`);
      }
      loop.setAlarm(undefined);
      own.open(request);
    } else if (of.stream === own.stream) own.event(of);
    else clients?.event(of);
  }

  function closed(): void {
    if (endings.length === 0) loop.setAlarm(AFTER_END_MS, () => broken("it has ended by itself"));
  }

  const port = new Port(loop, channel, {
    event: (of) => event(of),
    closed,
  });
  const own = new OwnStream(loop, port, request, host.exit);
  clients = new Clients(loop, port, () => own.started);
  new Inlet(loop, complaints, {
    room: () => COMPLAINTS_MOST,
    data: (bytes) => {
      complaint = (complaint + printable(bytes)).slice(-COMPLAINTS_MOST);
    },
    end: () => {},
  });

  const signals = kernel.signalDescriptor();
  loop.add({
    fd: signals,
    wants: () => host.POLL.IN,
    ready() {
      for (let number = kernel.nextSignal(signals); number !== 0; number = kernel.nextSignal(signals)) {
        if (number === host.signalNumber("CHLD")) reap();
        else own.signal(number);
      }
    },
  });

  function reap(): void {
    for (let ended = host.waitpid(-1, host.WAIT.NOHANG); ended; ended = host.waitpid(-1, host.WAIT.NOHANG)) {
      const name = programs.get(ended.pid);
      if (name === undefined) continue;
      // A guest's kernel that panics switches the machine off.
      const byGuest = name === HYPERVISOR && ended.status === 0;
      endings.push(byGuest ? "the guest's kernel has given up" : `${name} has ended with status ${ended.status}`);
      // What it had to say, and the end of the other one, may come a moment later.
      loop.setAlarm(AFTER_END_MS, () => broken(endings.join(" and ")));
    }
  }

  loop.after = () => own.finish();
  loop.setAlarm(request.bootSeconds * 1000, () => broken(`the guest does not answer after ${request.bootSeconds} seconds`));
  try {
    return loop.run();
  } catch (error) {
    if (error instanceof ProtocolError) return broken(`the guest has sent ${error.message}`);
    throw error;
  }
}

/** ASCII only: it goes to a terminal or a log, and may be what the guest has said. */
function printable(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : " ")).join("");
}
