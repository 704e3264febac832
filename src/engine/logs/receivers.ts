/**
 * Formats records for log receivers of the protocols syslog, GELF and fluentd. Pure, except for the time zone of the host. Sources: RFC 3164, RFC
 * 5424; "GELF" of Graylog; "Forward protocol specification v1" of Fluentd; moby, daemon/logger, for the fields that Docker sends.
 */
import { randomBytes } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";
import { FACILITIES, type ReceiverSpec } from "../spec/index.ts";
import { fluentdEntry, fluentdMessage, instantOf } from "./fluentd.ts";
import { type FluentdOptions, FluentdSender } from "./fluentd-sender.ts";
import { DatagramSocket, ForwardSocket, type Sender } from "./forward.ts";
import type { LogRecord } from "./record.ts";

/** The container whose records are sent. */
export interface Speaker {
  readonly host: string;
  /** Id of the task. */
  readonly id: string;
  readonly task: string;
  readonly container: string;
  readonly image: string;
  readonly tag: string;
  /** Process id that syslog messages have: that of the daemon. */
  readonly pid: number;
}

/** Replaces the fields of a tag. Source: Docker, "Customize log driver output". @param tag the schema of logs has checked each "{{.WORD}}" in it */
export function tagText(tag: string, { id, task, container, image }: Omit<Speaker, "tag">): string {
  const name = task === container ? task : `${task}/${container}`;
  const values: Readonly<Record<string, string>> = {
    ...{ ID: id, FullID: id, Name: name, ImageName: image, ImageFullName: image, DaemonName: "runtd" },
  };
  return tag.replaceAll(/\{\{\s*\.(\w+)\s*\}\}/g, (_, word: string) => values[word] ?? "");
}

/** Severities of syslog(3). */
const SEVERITY: Readonly<Record<LogRecord["stream"], number>> = { stdout: 6, stderr: 3, runt: 5 };
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Each message ends with a newline, as with Docker. In a stream the newline separates it from the next one (RFC 6587, 3.4.2). */
export function syslogMessage(
  record: LogRecord,
  speaker: Speaker,
  { facility = "daemon", format = "local" }: Pick<ReceiverSpec, "facility" | "format">,
): Buffer {
  const { host, tag, pid } = speaker;
  const priority = FACILITIES.indexOf(facility) * 8 + SEVERITY[record.stream];
  const time = record.time === "" ? "1970-01-01T00:00:00.000000000Z" : record.time;
  const heads = {
    local: () => `<${priority}>${syslogTime(time)} ${tag}[${pid}]: `,
    rfc3164: () => `<${priority}>${syslogTime(time)} ${host} ${tag}[${pid}]: `,
    rfc5424: () => `<${priority}>1 ${time.slice(0, 19)}Z ${host} ${tag} ${pid} ${tag} - `,
    rfc5424micro: () => `<${priority}>1 ${time.slice(0, 26)}Z ${host} ${tag} ${pid} ${tag} - `,
  };
  return Buffer.concat([Buffer.from(heads[format]()), withoutNul(record.bytes), Buffer.from("\n")]);
}

/** Such as "Nov  9 08:05:00", in the time zone of the host. */
function syslogTime(time: string): string {
  const date = new Date(time);
  const two = (count: number) => String(count).padStart(2, "0");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${MONTHS[date.getMonth()]} ${String(date.getDate()).padStart(2)} ${clock}`;
}

/** Replaces NUL bytes, because a receiver may end a message there. */
function withoutNul(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => (byte === 0 ? 0x20 : byte)));
}

/** undefined: the record is empty, and GELF has no empty messages. */
export function gelfMessage({ time, stream, bytes }: LogRecord, speaker: Speaker): Buffer | undefined {
  if (bytes.length === 0) return undefined;
  const { seconds, nanoseconds } = instantOf(time);
  const text = JSON.stringify({
    version: "1.1",
    host: speaker.host,
    short_message: bytes.toString(),
    timestamp: seconds + Math.floor(nanoseconds / 1e6) / 1000,
    level: SEVERITY[stream],
    _container_id: speaker.id,
    _container_name: speaker.container,
    _image_name: speaker.image,
    _tag: speaker.tag,
    _task: speaker.task,
  });
  return Buffer.from(text);
}

/** The messages of a record in the format of its receiver; empty: the format cannot carry the record. */
export function messagesFor(record: LogRecord, receiver: ReceiverSpec, speaker: Speaker): Buffer[] {
  if (receiver.protocol === "syslog") return [syslogMessage(record, speaker, receiver)];
  if (receiver.protocol === "fluentd") {
    const { precise = false, fields } = receiver;
    const entry = { record, names: fluentdNames(speaker), fields, precise };
    return [isAnswered(receiver) ? fluentdEntry(entry) : fluentdMessage(speaker.tag, entry)];
  }
  const message = gelfMessage(record, speaker);
  if (message === undefined) return [];
  // In a stream a NUL ends each GELF message.
  return receiver.address.startsWith("udp:") ? gelfDatagrams(message, receiver.compression) : [message, Buffer.from([0])];
}

/** Whether the receiver answers what is sent to it. */
function isAnswered({ ack, sharedKeyFile }: ReceiverSpec): boolean {
  return ack === true || sharedKeyFile !== undefined;
}

export interface SenderOptions {
  readonly tag: string;
  /** Reads the shared key. @throws Error */
  readonly readKey: (path: string, signal: AbortSignal) => Promise<Buffer>;
  readonly onFault: FluentdOptions["onFault"];
}

/** Makes the socket for the address of a receiver: a stream, or datagrams for UDP. */
export function senderTo(receiver: ReceiverSpec, { tag, readKey, onFault }: SenderOptions): Sender {
  const { address, ack = false, sharedKeyFile } = receiver;
  const [, protocol, host = "", port] = /^(tcp|udp):\/\/(.+):(\d+)$/.exec(address) ?? [];
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (protocol === "udp") return new DatagramSocket(bare, Number(port));
  const place = protocol === undefined ? { path: address.slice("unix://".length) } : { host: bare, port: Number(port) };
  if (!isAnswered(receiver)) return new ForwardSocket(() => place);
  const sharedKey = sharedKeyFile === undefined ? undefined : (signal: AbortSignal) => readKey(sharedKeyFile, signal);
  return new FluentdSender({ find: () => place, tag, ack, sharedKey, onFault });
}

/** What Docker sends of a container beside the line. */
function fluentdNames({ id, container }: Speaker): Readonly<Record<string, string>> {
  return { container_id: id, container_name: `/${container}` };
}

/** Maximum size of one datagram, in bytes. */
const CHUNK = 1420;
const CHUNK_HEAD = 12;
const MOST_CHUNKS = 128;

/** The datagrams of a message; empty: the message is too long for GELF. */
export function gelfDatagrams(message: Buffer, compression: NonNullable<ReceiverSpec["compression"]> = "gzip"): Buffer[] {
  const packed = compression === "none" ? message : compression === "zlib" ? deflateSync(message) : gzipSync(message);
  if (packed.length <= CHUNK) return [packed];
  const part = CHUNK - CHUNK_HEAD;
  const count = Math.ceil(packed.length / part);
  if (count > MOST_CHUNKS) return [];
  const id = randomBytes(8);
  return Array.from({ length: count }, (_, at) =>
    Buffer.concat([Buffer.from([0x1e, 0x0f]), id, Buffer.from([at, count]), packed.subarray(at * part, (at + 1) * part)]),
  );
}
