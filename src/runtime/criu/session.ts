/** One call of `criu swrk`: a request over a socket pair, notifications on the way, an answer at the end. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { type Answer, decodeAnswer, encodeAcknowledgement, REQUEST } from "./messages.ts";
import { environment } from "./path.ts";

/** How long criu may take to undo its work after the socket was closed, or to end after its answer. */
const END_MS = 10_000;
const PAUSE_MS = 5;
const SHELL = "/bin/sh";
const SILENTLY = 'exec "$0" "$@" >/dev/null 2>&1';

export interface Conversation {
  /** Made when criu runs and waits for it. */
  readonly request: (criu: number) => Uint8Array;
  /** What criu prints before it has a log is nobody's. */
  readonly quiet?: boolean;
  /** Descriptors that criu gets under their own numbers. Directories of a request need not be: it opens /proc/PID/fd/N of its caller. */
  readonly inherit?: readonly number[];
  /** What throws here makes criu give up, and is thrown once it has. */
  readonly notified?: (script: string, pid: number, fds: readonly number[]) => void;
}

/** @throws RuntError "criu" when it ends without an answer, and whatever a callback throws */
export function converse(criu: string, { request, quiet, inherit = [], notified }: Conversation): Answer {
  const [ours, theirs] = host.socketpair();
  const words = [criu, "swrk", String(theirs)];
  const [program, argv] = quiet ? [SHELL, [SHELL, "-c", SILENTLY, ...words]] : [criu, words];
  const pid = host.spawnPeer(program, argv, [theirs, ...inherit], environment());
  host.close(theirs);
  let failure: unknown;
  try {
    send(ours, request(pid));
    for (;;) {
      const packet = receive(ours);
      if (packet === undefined) throw failure ?? new RuntError("criu", "criu has ended without an answer");
      const answer = decodeAnswer(packet.data);
      if (answer.type !== REQUEST.notify) {
        if (failure) throw failure;
        return answer;
      }
      try {
        notified?.(answer.script ?? "", answer.pid ?? 0, packet.fds);
      } catch (error) {
        failure ??= error;
      }
      send(ours, encodeAcknowledgement(failure === undefined));
    }
  } catch (error) {
    // A signal that has ended the wait for the answer does not end the next one too.
    host.endWaitsBySignal(false);
    throw error;
  } finally {
    // criu takes the end of the socket for a failure, and puts everything back.
    host.close(ours);
    end(pid);
  }
}

/** It is an unreaped child of this process. */
function end(criu: number): void {
  for (const deadline = host.monotonic() + END_MS; !host.waitpid(criu, host.WAIT.NOHANG); host.sleep(PAUSE_MS)) {
    if (host.monotonic() < deadline) continue;
    host.kill(criu, host.signalNumber("KILL"));
    host.waitpid(criu, 0);
    return;
  }
}

/** A criu that has ended already is told by the next receive(): it closes the socket before or after it is written to. */
function send(socket: number, message: Uint8Array): void {
  try {
    host.write(socket, bytes(message));
  } catch (error) {
    if (!host.isErrno(error, "EPIPE", "ECONNRESET")) throw error;
  }
}

/** @returns undefined when criu has closed its end, with or without having read what was sent (unix(7): ECONNRESET) */
function receive(socket: number): ReturnType<typeof host.receivePacket> {
  try {
    return host.receivePacket(socket);
  } catch (error) {
    if (host.isErrno(error, "ECONNRESET")) return undefined;
    throw error;
  }
}

function bytes(view: Uint8Array): ArrayBuffer {
  return view.slice().buffer as ArrayBuffer;
}
