/** A stream of the monitor's for a process that only waits for how it goes, as what begins a further process for `exec`. */
import { joinBytes } from "../../../shared/text/index.ts";
import * as host from "../../host/index.ts";
import { encodeFrame, type Failure, FrameDecoder, type FrameName, type Opening, parseFailure } from "../channel/index.ts";
import { Inlet, Loop, Outlet } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import { type BeginRequest, fromEnvironment, SOCKET_VARIABLE } from "../request.ts";

const STREAM = 1;
const READ_AT_ONCE = 65_536;

/** Each but the first ends this process. */
export interface Answers {
  /** When the guest has said so, this process ends well. Another one goes on with the stream, under that name. */
  readonly keep?: { readonly at: "created" | "started"; readonly name: string };
  readonly ended: (status: number) => void;
  readonly failed: (failure: Failure) => void;
  /** The machine has ended, or does not answer for so long. */
  readonly silent: () => void;
}

export function ask(socket: string, name: "open" | "make", opening: Opening, seconds: number, answers: Answers): never {
  const loop = new Loop();
  const connection = host.connect(socket);
  kernel.setNonBlocking(connection);
  const decoder = new FrameDecoder("guest");
  const out = new Outlet(loop, connection, { atOnce: READ_AT_ONCE, shared: true });
  const frameOf = (frame: FrameName, words: string): Uint8Array => encodeFrame(frame, STREAM, new Uint8Array(host.utf8Encode(words)));
  const { keep } = answers;
  new Inlet(loop, connection, {
    room: () => READ_AT_ONCE,
    data: (bytes) => {
      for (const frame of decoder.push(bytes)) {
        if (frame.name === keep?.at) host.exit(0);
        else if (frame.name === "exit") answers.ended(frame.payload[0]!);
        else if (frame.name === "failed") {
          const { payload } = frame;
          answers.failed(parseFailure(host.utf8Decode(payload.buffer as ArrayBuffer, payload.byteOffset, payload.length)));
        }
      }
    },
    end: answers.silent,
  });
  loop.setAlarm(seconds * 1000, answers.silent);
  // In one write: a short program may have ended before a second one.
  out.push(joinBytes([frameOf(name, JSON.stringify(opening)), ...(keep ? [frameOf("keep", keep.name)] : [])]));
  return loop.run();
}

const BROKEN = 125;

/** Begins a further process in a machine, on behalf of `exec`: that it cannot be is an error of `exec`. Another process of the host goes on with it. */
export function begin(): never {
  const { opening, name, seconds } = fromEnvironment(host.getenv) as BeginRequest;
  const fail = (message: string, status: number): never => {
    host.write(2, message);
    return host.exit(status);
  };
  return ask(host.getenv(SOCKET_VARIABLE) ?? "", "open", opening, seconds, {
    keep: { at: "started", name },
    ended: (status) => fail(`it has ended with status ${status}`, BROKEN),
    failed: ({ message, status }) => fail(message, status),
    silent: () => fail(`the machine has not begun it after ${seconds} seconds, or has ended`, BROKEN),
  });
}
