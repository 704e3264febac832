/** One request on a socket of host.netlinkOpen, and its answer (netlink(7)). */
import { EAGAIN } from "../../shared/linux/index.ts";
import * as host from "../host/index.ts";
import { attributesOf, attributeValue, type Message, messagesOf, number } from "./message.ts";

/** NLMSG_ERROR, which an acknowledgement is as well, NLMSG_DONE, NLMSG_MIN_TYPE. */
const TYPE = { ERROR: 2, DONE: 3, LEAST: 16 } as const;
/** NLM_F_DUMP_INTR; NLM_F_CAPPED and NLM_F_ACK_TLVS of an error. */
const FLAG = { INTERRUPTED: 0x10, CAPPED: 0x100, WORDS: 0x200 } as const;
/** NLMSGERR_ATTR_MSG. */
const WORDS = 1;
const MESSAGE_HEADER = 16;
/** A list that changes while the kernel writes it is asked for again, so often. */
const DUMP_ATTEMPTS = 10;

interface Answer {
  readonly bodies: readonly DataView[];
  readonly interrupted: boolean;
  /** NLMSG_ERROR or NLMSG_DONE. */
  readonly end: Message;
}

let sequence = 0;

/**
 * The bodies of the messages of this type that answer it. A list or an acknowledgement must be asked for.
 * @throws HostError of `syscall` "netlink" for what the kernel refuses; `path` is what it says beside the error number
 */
export function request(socket: number, message: ArrayBuffer, type?: number): readonly DataView[] {
  for (let attempt = 0; attempt < DUMP_ATTEMPTS; attempt++) {
    number(message, ++sequence);
    host.write(socket, message);
    const { bodies, interrupted, end } = receive(socket, sequence, type);
    const status = end.body.byteLength >= 4 ? end.body.getInt32(0, true) : 0;
    if (status !== 0) throw failure(-status, wordsOf(end));
    if (!interrupted) return bodies;
  }
  throw failure(EAGAIN);
}

/** What has this sequence number. Others are left over of a request whose answer was not waited for. */
function receive(socket: number, expected: number, type: number | undefined): Answer {
  const bodies: DataView[] = [];
  let interrupted = false;
  for (;;) {
    for (const message of messagesOf(host.netlinkReceive(socket))) {
      if (message.sequence !== expected) continue;
      interrupted ||= (message.flags & FLAG.INTERRUPTED) !== 0;
      if (message.type === TYPE.ERROR || message.type === TYPE.DONE) return { bodies, interrupted, end: message };
      if (message.type === type && type >= TYPE.LEAST) bodies.push(message.body);
    }
  }
}

/** The attributes stand behind the error number and the request, of which the kernel repeats all or only the header. */
function wordsOf({ type, flags, body }: Message): string | undefined {
  if (type !== TYPE.ERROR || (flags & FLAG.WORDS) === 0) return undefined;
  const repeated = (flags & FLAG.CAPPED) !== 0 ? MESSAGE_HEADER : (body.getUint32(4, true) + 3) & ~3;
  const words = attributeValue(attributesOf(body, 4 + repeated), WORDS);
  return words && host.utf8Decode(new Uint8Array(words.slice(0, -1)).buffer);
}

function failure(errno: number, path?: string): Error {
  const message = `netlink${path === undefined ? "" : ` ${path}`}: ${host.strerror(errno)}`;
  return Object.assign(new Error(message), { errno, code: host.errnoName(errno), syscall: "netlink", ...(path !== undefined && { path }) });
}
