/** A process that stands on the host for one in the guest: stdio, signals and end are the same. It is connected to the monitor. */
import * as host from "../../host/index.ts";
import {
  Allowance,
  DATA_MOST,
  decodeCredit,
  encodeCredit,
  encodeFrame,
  encodeSize,
  type Frame,
  FrameDecoder,
  type FrameName,
  type Opening,
  parseFailure,
} from "../channel/index.ts";
import { creditedOutlet, Inlet, Loop, Outlet, reap } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import { JAIL } from "../places.ts";
import { type AdoptionRequest, fromEnvironment, isJoined, SOCKET_VARIABLE } from "../request.ts";
import { isToldLimit } from "./memory-limit.ts";
import { Repetition } from "./repetition.ts";

const [STDIN, STDOUT, STDERR] = [0, 1, 2];
const STREAM = 1;
const READ_AT_ONCE = 65_536;
const BROKEN = 125;

export function join(): never {
  const asked = fromEnvironment(host.getenv) as Opening | AdoptionRequest;
  host.blockSignals();
  const loop = new Loop();
  const connection = host.connect(host.getenv(SOCKET_VARIABLE) ?? JAIL.monitor);
  kernel.setNonBlocking(connection);
  const allowance = new Allowance();
  const decoder = new FrameDecoder("guest");
  let started = false;
  let status: number | undefined;
  const early: number[] = [];
  // Only a container's first process has a cgroup that is the container's: a verb has its caller's.
  const repetition = new Repetition({ isLimited: isJoined(asked) && isToldLimit() });

  // The monitor closes it when it has told the end: what it has said until then is read all the same.
  const out = new Outlet(loop, connection, { atOnce: READ_AT_ONCE, shared: true });
  const send = (name: FrameName, payload?: Uint8Array): void => out.push(encodeFrame(name, STREAM, payload));
  const outletOf = (channel: "stdout" | "stderr", fd: number): Outlet =>
    creditedOutlet(loop, fd, (bytes) => {
      if (status === undefined) send("credit", encodeCredit({ channel, bytes }));
    });
  const outlets = { stdout: outletOf("stdout", STDOUT), stderr: outletOf("stderr", STDERR) };

  function receive({ name, payload }: Frame): void {
    if (name === "started") {
      started = true;
      for (const number of early) signal(number);
    } else if (name === "stdout" || name === "stderr") outlets[name].push(payload);
    else if (name === "oom") repetition.begin();
    else if (name === "credit") allowance.grant(decodeCredit(payload).bytes);
    else if (name === "exit") status = payload[0]!;
    else if (name === "failed") {
      const failure = parseFailure(text(payload));
      if (!failure.shown) outlets.stderr.push(bytesOf(`${failure.message}\n`));
      status = failure.status;
    }
  }

  function signal(number: number): void {
    if (number === host.signalNumber("CHLD")) reap((pid) => repetition.ended(pid));
    else if (number === host.signalNumber("WINCH") && asked.terminal) {
      const size = host.windowSize(STDIN);
      if (size) send("resize", encodeSize(size));
    } else if (!started) early.push(number);
    else send("signal", new Uint8Array([number]));
  }

  new Inlet(loop, connection, {
    room: () => READ_AT_ONCE,
    data: (bytes) => {
      for (const frame of decoder.push(bytes)) receive(frame);
    },
    end: () => {
      status ??= BROKEN;
    },
  });
  new Inlet(loop, STDIN, {
    room: () => (started ? Math.min(allowance.left, DATA_MOST) : 0),
    data: (bytes) => {
      allowance.spend(bytes.length);
      send("stdin", bytes);
    },
    end: () => send("stdinEnd"),
  });
  const signals = kernel.signalDescriptor();
  loop.add({
    fd: signals,
    wants: () => host.POLL.IN,
    ready() {
      for (let number = kernel.nextSignal(signals); number !== 0; number = kernel.nextSignal(signals)) signal(number);
    },
  });
  loop.after = () => {
    if (status !== undefined && outlets.stdout.waiting === 0 && outlets.stderr.waiting === 0 && !repetition.busy) host.exit(status);
  };
  const size = asked.terminal ? host.windowSize(STDIN) : undefined;
  if (asked.terminal) kernel.makeRaw(STDIN);
  if (asked.what === "adoption") {
    send("adopt", bytesOf(asked.name));
    if (size) send("resize", encodeSize(size));
    send("start");
  } else send("open", bytesOf(JSON.stringify({ ...asked, ...(size && { size }) })));
  return loop.run();
}

function bytesOf(words: string): Uint8Array {
  return new Uint8Array(host.utf8Encode(words));
}

function text(payload: Uint8Array): string {
  return host.utf8Decode(payload.buffer as ArrayBuffer, payload.byteOffset, payload.length);
}
