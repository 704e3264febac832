/**
 * The monitor of a machine: the process that engines see as the container's. It is the first process of a pid namespace on the host, so the hypervisor
 * and the file server end with it, however it ends. It ends with the status of the container.
 */
import * as host from "../../host/index.ts";
import { ProtocolError, type SessionEvent } from "../channel/index.ts";
import { Inlet, Loop, watchChildren } from "../flow/index.ts";
import { ConsoleLog } from "../processes/console-log.ts";
import { Complaints, heard, takeOver } from "../processes/handover.ts";
import { isToldLimit } from "../processes/memory-limit.ts";
import { Repetition } from "../processes/repetition.ts";
import { fromEnvironment, type MonitorRequest } from "../request.ts";
import { Clients } from "./clients.ts";
import { OwnStream } from "./own-stream.ts";
import { Port } from "./port.ts";

/** Of a machine that broke: as a shell says it of a program that it cannot run. */
const BROKEN = 125;
const REASON_MOST = 2000;
/** Why the machine has ended is told soon after its channel is closed, and in the end somebody has to say something. */
const AFTER_CLOSE_MS = 2000;

export function monitor(): never {
  const { terminal, memoryMiB } = fromEnvironment(host.getenv) as MonitorRequest;
  host.blockSignals();
  const loop = new Loop();
  const { channel, complaints, clients: listener, connection, console, printed } = machine();
  const complaint = new Complaints(loop, complaints);
  const log = new ConsoleLog(loop, console, printed);

  /** The machine is gone or not to be trusted: with this process everything ends. */
  function broken(reason: string): never {
    return end(log.after(complaint.after(reason)));
  }

  function event(of: SessionEvent): void {
    if (of.what === "hello") throw new ProtocolError("hello when the container had been made");
    if (of.stream === own.stream) own.event(of);
    else clients.event(of);
  }

  const port = new Port(loop, channel, {
    event,
    closed: () => loop.setAlarm(AFTER_CLOSE_MS, () => broken("it has closed its channel")),
  });
  const repetition = new Repetition({ isLimited: isToldLimit(), memoryMiB });
  const own = new OwnStream(loop, port, { terminal, repetition, ended: host.exit });
  const clients = new Clients(loop, listener, { port, console: log }, () => own.started);
  let reason = "";
  new Inlet(loop, connection, {
    room: () => REASON_MOST,
    data: (bytes) => {
      const said = heard(host.utf8Decode(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length));
      for (const number of said.signals) own.signalRest(number);
      reason += said.reason;
    },
    end: () => broken(reason === "" ? "the process that has booted it was killed" : reason),
  });

  // Its children are those that have lost their parent in this pid namespace.
  watchChildren(
    loop,
    (pid) => repetition.ended(pid),
    (number) => own.signal(number),
  );
  loop.after = () => own.finish();
  own.start();
  try {
    return loop.run();
  } catch (error) {
    if (error instanceof ProtocolError) return broken(`the guest has sent ${error.message}`);
    throw error;
  }
}

function machine(): ReturnType<typeof takeOver> {
  try {
    return takeOver();
  } catch (error) {
    return end((error as Error).message);
  }
}

function end(reason: string): never {
  host.write(2, `runt: machine: ${reason}\n`);
  return host.exit(BROKEN);
}
