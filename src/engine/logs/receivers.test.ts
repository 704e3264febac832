import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { receiverSchema } from "../spec/index.ts";
import { messagesFor, parseRecord, type Speaker, tagText } from "./index.ts";

const TIME = "2026-11-09T16:05:06.123456789Z";
const record = (text: string, stream = "stdout", mark = "F") => parseRecord(Buffer.from(`${TIME} ${stream} ${mark} ${text}`));
const speaker: Speaker = {
  host: "here",
  id: "g.t.1",
  task: "t",
  container: "app",
  image: "docker://r.example/app:v1",
  tag: "t/app",
  pid: 7,
};
const sent = (fields: object, one = record("hello")) =>
  messagesFor(one, receiverSchema.parse({ protocol: "syslog", address: "tcp://h:1", ...fields }), speaker).map((bytes) =>
    bytes.toString("latin1"),
  );

test("a message of syslog has the priority of facility and stream, and the form that is asked for; a NUL and a priority in a line are text", () => {
  expect(sent({ format: "rfc5424" })).toEqual(["<30>1 2026-11-09T16:05:06Z here t/app 7 t/app - hello\n"]);
  expect(sent({ format: "rfc5424micro", facility: "local7" }, record("<0>a\0b", "stderr"))).toEqual([
    "<187>1 2026-11-09T16:05:06.123456Z here t/app 7 t/app - <0>a b\n",
  ]);
  expect(sent({})[0]).toMatch(/^<30>Nov {1,2}\d{1,2} \d\d:05:06 t\/app\[7\]: hello\n$/);
  expect(sent({ format: "rfc3164" })[0]).toMatch(/:06 here t\/app\[7\]: hello\n$/);
});

test("GELF: an empty line is nothing, a NUL ends a message in a stream, a long one is in chunks, and one that is too long is left out", () => {
  const gelf = { protocol: "gelf", address: "udp://h:1", compression: "none" };
  expect(sent(gelf, record(""))).toEqual([]);
  expect(sent({ protocol: "gelf", address: "tcp://h:1" })[1]).toBe("\0");
  expect(JSON.parse(sent(gelf)[0]!)).toMatchObject({
    version: "1.1",
    host: "here",
    short_message: "hello",
    timestamp: 1794240306.123,
    level: 6,
  });
  const chunks = sent(gelf, record("x".repeat(3000)));
  expect(chunks.map((one) => [one.slice(0, 2), one.charCodeAt(10), one.charCodeAt(11), one.length <= 1420])).toEqual([
    ["\x1e\x0f", 0, 3, true],
    ["\x1e\x0f", 1, 3, true],
    ["\x1e\x0f", 2, 3, true],
  ]);
  expect(new Set(chunks.map((one) => one.slice(2, 10))).size).toBe(1);
  expect(JSON.parse(chunks.map((one) => one.slice(12)).join("")).short_message).toHaveLength(3000);
  expect(sent(gelf, record("x".repeat(200_000)))).toEqual([]);
  const packed = Buffer.from(sent({ ...gelf, compression: "zlib" })[0]!, "latin1");
  expect(JSON.parse(inflateSync(packed).toString())._container_name).toBe("app");
});

/** Decoded with msgpack 1.2.4 for Python: ["t/app", 1794240306, {container_id, container_name, source, log, partial_message}]. */
test("fluentd: an entry of tag, time and record, in which a part of a line says so", () => {
  const when = Buffer.alloc(4);
  when.writeUInt32BE(Date.parse(`${TIME.slice(0, 19)}Z`) / 1000);
  const head = `\x93\xa5t/app`;
  const fields = "\xaccontainer_id\xa5g.t.1\xaecontainer_name\xa4/app\xa6source\xa6stdout\xa3log\xa5hello";
  const fluentd = { protocol: "fluentd" };
  expect(sent(fluentd)).toEqual([`${head}\xce${when.toString("latin1")}\x84${fields}`]);
  const nanoseconds = Buffer.from([0x07, 0x5b, 0xcd, 0x15]).toString("latin1");
  expect(sent({ ...fluentd, precise: true }, record("hello", "stdout", "P"))).toEqual([
    `${head}\xd7\0${when.toString("latin1")}${nanoseconds}\x85${fields}\xafpartial_message\xa4true`,
  ]);
  expect(sent({ ...fluentd, fields: { team: "shop" } })[0]).toContain("\xa3log\xa5hello\xa4team\xa4shop");
  // An entry of a chunk has no tag.
  expect(sent({ ...fluentd, ack: true })).toEqual([`\x92\xce${when.toString("latin1")}\x84${fields}`]);
  expect(sent(fluentd, record("y".repeat(40)))[0]).toContain(`\xa3log\xdb\0\0\0\x28${"y".repeat(40)}`);
});

test("a tag names the task and the image", () => {
  expect(tagText("{{.ImageName}}/{{ .Name }}/{{.ID}}", speaker)).toBe("docker://r.example/app:v1/t/app/g.t.1");
  expect(tagText("{{.Name}}", { ...speaker, container: "t" })).toBe("t");
});

test.each([
  [{ address: "tcp+tls://h:1" }, "write tcp://HOST:PORT, udp://HOST:PORT or unix:///SOCKET"],
  [{ address: "tcp://h:0" }, "has no port from 1 to 65535"],
  [{ address: "tcp://h:65536" }, "has no port from 1 to 65535"],
  [{ address: "unix://relative" }, "write tcp://HOST:PORT"],
  [{ protocol: "fluentd", address: "udp://h:1" }, "is by tcp or unix for fluentd"],
  [{ protocol: "gelf", address: "unix:///a" }, "is by udp or tcp for gelf"],
  [{ protocol: "gelf", format: "rfc5424" }, "is for syslog"],
  [{ compression: "none" }, "is for gelf by udp"],
  [{ precise: true }, "is for fluentd"],
  [{ ack: true }, "is for fluentd"],
  [{ sharedKeyFile: "/k" }, "is for fluentd"],
  [{ fields: { a: "b" } }, "is for fluentd"],
  [{ facility: "" }, "is no facility"],
  [{ facility: "local8" }, "is no facility"],
  [{ tag: "a b" }, "has only {{.WORD}} with ID"],
  [{ tag: "{{.Labels}}" }, "has only {{.WORD}} with ID"],
  [{ tag: "a\n<0>" }, "has only {{.WORD}} with ID"],
])("a receiver %j is refused", (fields, message) => {
  const { success, error } = receiverSchema.safeParse({ protocol: "syslog", address: "tcp://h:1", ...fields });
  expect([success, error?.issues.map((one) => one.message).join()]).toEqual([false, expect.stringContaining(message)]);
});
