/**
 * The first process of a machine. It makes containers with the same program that the host has, by its ordinary verbs, and serves the host's frames
 * until the machine is switched off. There is no other program in the guest.
 */
import * as host from "../../host/index.ts";
import {
  decodeCredit,
  decodeSize,
  encodeFrame,
  type Frame,
  FrameDecoder,
  type FrameName,
  type Hello,
  type Opening,
} from "../channel/index.ts";
import { Inlet, Loop, Outlet, watchChildren } from "../flow/index.ts";
import { bootGuest } from "./boot.ts";
import { Maker } from "./maker.ts";
import { Program } from "./program.ts";

const READ_AT_ONCE = 65_536;
/** Of an error that no verb has. */
const FAILED = 1;

export function guest(): never {
  host.blockSignals();
  const fd = bootGuest(Number(host.argv()[2]));
  const loop = new Loop();
  const programs = new Map<number, Program>();
  const decoder = new FrameDecoder("host");
  // Without the host there is nobody to serve: the kernel ends a machine whose first process has ended.
  const gone = (): never => host.exit(1);
  const out = new Outlet(loop, fd, { atOnce: READ_AT_ONCE, broken: gone });
  const send = (name: FrameName, stream: number, payload?: Uint8Array): void => out.push(encodeFrame(name, stream, payload));
  const maker = new Maker(loop);

  const hasStream = (pid: number): boolean => [...programs.values()].some((each) => each.runs(pid));

  function receive({ name, stream, payload }: Frame): void {
    const program = programs.get(stream);
    if (name === "open" || name === "make") open(stream, JSON.parse(text(payload)) as Opening);
    // For others it was on its way when the stream ended.
    else if (name === "signalRest") program?.signalRest?.(payload[0]!, hasStream);
    else if (program) tell(program, name, payload);
  }

  function open(stream: number, opening: Opening): void {
    const program = new Program({
      loop,
      send: (name, payload) => send(name, stream, payload),
      terminal: opening.terminal,
      size: opening.size,
    });
    programs.set(stream, program);
    try {
      maker.make(program, opening);
    } catch (error) {
      // The host may have given it up, and have taken back what it had in the shared directory.
      program.failed({ message: `runt: ${(error as Error).message}`, status: FAILED, shown: false });
    }
  }

  new Inlet(loop, fd, {
    room: () => READ_AT_ONCE,
    data: (bytes) => {
      for (const frame of decoder.push(bytes)) receive(frame);
    },
    end: gone,
  });
  watchChildren(loop, (pid, status) => {
    const program = [...programs.values()].find((each) => each.runs(pid));
    if (program) program.ended(status);
    else maker.ended(pid, status);
  });
  loop.after = () => {
    for (const [stream, program] of programs) if (program.finish()) programs.delete(stream);
  };
  send(
    "hello",
    0,
    new Uint8Array(host.utf8Encode(JSON.stringify({ version: host.build.version, commit: host.build.commit } satisfies Hello))),
  );
  return loop.run();
}

function text(payload: Uint8Array): string {
  return host.utf8Decode(payload.buffer as ArrayBuffer, payload.byteOffset, payload.length);
}

function tell(program: Program, name: FrameName, payload: Uint8Array): void {
  if (name === "stdin") program.stdin(payload);
  else if (name === "stdinEnd") program.stdinEnd();
  else if (name === "resize") program.resize(decodeSize(payload));
  else if (name === "start") program.start();
  else if (name === "signal") program.signal(payload[0]!);
  else if (name === "credit") {
    const { channel, bytes } = decodeCredit(payload);
    if (channel !== "stdin") program.grant(channel, bytes);
  }
}
