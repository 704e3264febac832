/**
 * What boots a machine. `create` runs it as a hook of the host's side and waits until the container is made in the guest: what goes wrong until then
 * fails `create`, with the reason. Then it stays, as the parent of the hypervisor and the file server, and gives the channel to the monitor when the
 * container starts. From then on it hears nothing of the guest: this process keeps a few rights that the monitor does not have (confine.ts).
 */
import * as host from "../../host/index.ts";
import { ProtocolError } from "../channel/index.ts";
import { Loop, watchChildren } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import { joinInterfaces, readInterfaces } from "../network/host.ts";
import { JAIL } from "../places.ts";
import { ConsoleLog, quoted } from "../processes/console-log.ts";
import { Complaints, handOver, tellSignal } from "../processes/handover.ts";
import { hasMemoryLimit, tellLimit } from "../processes/memory-limit.ts";
import { fromEnvironment, type MachineRequest } from "../request.ts";
import { Accelerator } from "./accelerator.ts";
import { confine } from "./confine.ts";
import { Greeting } from "./greeting.ts";
import { HYPERVISOR, startMachine } from "./machine.ts";
import { makeMountPoints } from "./mount-points.ts";

const BROKEN = 125;
/** What the programs had to say, and the end of the other one, may come a moment after the end of one. */
const AFTER_END_MS = 200;
const STDERR = 2;

export function boot(): never {
  const request = fromEnvironment(host.getenv) as MachineRequest;
  const { rootfs, mountPoints, bootSeconds } = request;
  makeMountPoints(rootfs, mountPoints);
  const accelerator = new Accelerator(request);
  const isLimited = hasMemoryLimit();
  // The hook's directory is the root of the monitor to be.
  kernel.chroot(".");
  host.chdir("/");
  if (isLimited) tellLimit();
  const made = host.detach();
  host.blockSignals();
  const loop = new Loop();
  const listen = (path: string): number => {
    const fd = kernel.listen(path);
    host.chmod(path, 0o600);
    return fd;
  };
  const [monitors, clients] = [listen(JAIL.boot), listen(JAIL.monitor)];
  const interfaces = request.network ? readInterfaces() : [];
  const hasInterfaces = interfaces.length > 0;
  const chosen = accelerator.choose();
  const began = host.monotonic();
  const fifo = new StartFifo();
  const { programs, channel, complaints, console } = startMachine(request, chosen, interfaces);
  const complaint = new Complaints(loop, complaints);
  const printed = new ConsoleLog(loop, console);
  const endings: string[] = [];
  let isMade = false;
  /** The machine has ended before the container has started. */
  let reason: string | undefined;
  /** To the monitor. */
  let connection: number | undefined;

  function fail(message: string, status: number): never {
    host.write(STDERR, `${message}\n`);
    return host.exit(status);
  }

  function broken(what: string): void {
    if (connection !== undefined) {
      host.sendDatagram(connection, what, -1);
      host.exit(BROKEN);
    }
    const whole = printed.after(complaint.after(what));
    if (!isMade) fail(`runt: machine: ${whole}`, BROKEN);
    reason = whole;
    for (const pid of programs.keys()) host.kill(pid, host.signalNumber("KILL"));
    fifo.startMonitor();
  }

  const greeting = new Greeting(loop, channel, request, {
    interfaces,
    greeted() {
      accelerator.booted(host.monotonic() - began);
      if (hasInterfaces) joinInterfaces(interfaces);
    },
    made() {
      loop.setAlarm(undefined);
      isMade = true;
      host.write(made, ".");
      host.close(made);
    },
    failed: ({ message, status }) => fail(message, status),
    broken,
  });
  loop.add({
    fd: monitors,
    wants: () => (isMade && connection === undefined ? host.POLL.IN : 0),
    ready() {
      connection = kernel.accept(monitors);
      if (reason !== undefined) return broken(reason);
      complaint.stop();
      printed.stop();
      handOver(connection, { channel, complaints, clients, console }, quoted(printed.text));
      for (const fd of [channel, complaints, clients, console, monitors]) host.close(fd);
    },
  });
  watchChildren(
    loop,
    (pid, status) => {
      const name = programs.get(pid);
      if (!programs.delete(pid)) return;
      // A guest's kernel that panics switches the machine off.
      const byGuest = name === HYPERVISOR && status === 0;
      endings.push(byGuest ? "the guest's kernel has given up" : `${name} has ended with status ${status}`);
      if (reason === undefined) loop.setAlarm(AFTER_END_MS, () => broken(endings.join(" and ")));
    },
    (number) => {
      // Somebody signals every process of the cgroup: the monitor has had its own, which is for the container's first process.
      if (connection !== undefined) host.sendDatagram(connection, tellSignal(number), -1);
    },
  );
  loop.setAlarm(bootSeconds * 1000, () =>
    broken(`the guest ${greeting.greeted ? "has not made the container" : "does not answer"} after ${bootSeconds} seconds`),
  );
  // All that needs more rights is done, and nothing of the guest is read yet.
  confine(hasInterfaces);
  try {
    return loop.run();
  } catch (error) {
    if (error instanceof ProtocolError) return fail(`runt: machine: the guest has sent ${error.message}`, BROKEN);
    throw error;
  }
}

/** The first process of this pid namespace waits for `start` at this file, by a byte. */
const WAITS_AT = "/exec.fifo";
const START = "\0";

/** The machine has broken before its container has started: the monitor-to-be is let go on, which tells the reason and ends the container. */
class StartFifo {
  /** undefined: `run` has none, and starts the container at once. */
  readonly #fd: number | undefined;

  /** Looks it up while this process has the right to look into another one. */
  constructor() {
    const descriptors = "/proc/1/fd";
    const found = host.readdir(descriptors).find((name) => leadsTo(`${descriptors}/${name}`).endsWith(WAITS_AT));
    this.#fd = found === undefined ? undefined : host.open(`${descriptors}/${found}`, host.O.PATH);
  }

  /** Nothing, if it has been started already. */
  startMonitor(): void {
    if (this.#fd === undefined) return;
    try {
      const fd = host.open(`/proc/self/fd/${this.#fd}`, host.O.WRONLY | host.O.NONBLOCK);
      host.write(fd, START);
      host.close(fd);
    } catch (error) {
      // Nobody has it open for reading any more (fifo(7)).
      if (!host.isErrno(error, "ENXIO", "EPIPE")) throw error;
    }
  }
}

function leadsTo(path: string): string {
  try {
    return host.readlink(path);
  } catch (error) {
    // Just closed.
    if (host.isErrno(error, "ENOENT")) return "";
    throw error;
  }
}
