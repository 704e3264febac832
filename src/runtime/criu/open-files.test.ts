import { expect, it, test } from "vitest";
import { joinBytes } from "../../shared/text/index.ts";
import { externalFiles, openFileModes, recordedStreams, replaceableFiles, streamKey } from "./open-files.ts";
import { encodeMessage, type Message } from "./protobuf.ts";

const HEAD = Uint8Array.from([0x19, 0x43, 0x56, 0x54, 0x38, 0x31, 0x30, 0x56]);
const LOG = "file[1b:995cb2]";
const [REGULAR, DEVICE, FIFO] = [0o100644, 0o20666, 0o10644];

const entry = (file: Message): Uint8Array => {
  const content = encodeMessage({ 1: 1, 2: 3, 3: file });
  return joinBytes([Uint8Array.from([content.length, 0, 0, 0]), content]);
};
/** Fields of reg_file_entry: id, flags, position, owner, name, mount, size, external, mode. */
const file = (name: string, flags: number, mode: number, size = 14): Message => ({
  1: 3,
  2: flags,
  3: size,
  5: { 1: 0, 2: 0, 3: 0 },
  6: name,
  8: size,
  9: true,
  10: mode,
});
const image = (...files: readonly Message[]): Uint8Array => joinBytes([HEAD, ...files.map(entry)]);
const without = ({ 8: _size, 10: _mode, ...rest }: Message, flags: number): Message => ({ ...rest, 2: flags });

test("the kinds of what was open, by name; entries of other kinds are passed over", () => {
  const other = joinBytes([Uint8Array.from([4, 0, 0, 0]), encodeMessage({ 1: 5, 2: 9 })]);
  const whole = joinBytes([image(file(LOG, 1, REGULAR), file("file[18:3]", 2, DEVICE)), other]);
  expect([...openFileModes(whole)]).toEqual([
    [LOG, REGULAR],
    ["file[18:3]", DEVICE],
  ]);
});

it.each([
  ["what was written is appended to", 0o100001, 0o102001],
  ["what was read is not", 0o100000, 0o100000],
  ["nor what was both", 0o100002, 0o100002],
])("loses size and mode of a named file: %s", (_, flags, expected) => {
  const other = file("/bin/busybox", 0, 0o100755);
  const before = image(other, file(LOG, flags, REGULAR), other);
  const after = image(other, without(file(LOG, flags, REGULAR), expected), other);
  expect(replaceableFiles(before, new Set([LOG]))).toEqual(after);
  // Once more it stays as it is.
  expect(replaceableFiles(after, new Set([LOG]))).toEqual(after);
  expect(replaceableFiles(before, new Set(["file[1:2]"]))).toEqual(before);
});

test("devices and FIFOs stay what they are", () => {
  const whole = image(file(LOG, 1, DEVICE), file("file[1:2]", 1, FIFO));
  expect(replaceableFiles(whole, new Set([LOG, "file[1:2]"]))).toEqual(whole);
});

test("what is cut off is no image", () => {
  const whole = image(file(LOG, 1, REGULAR));
  for (let length = 9; length < whole.length; length++) expect(() => openFileModes(whole.subarray(0, length))).toThrow(RangeError);
  expect(openFileModes(HEAD).size).toBe(0);
  expect(openFileModes(new Uint8Array(0)).size).toBe(0);
});

it.each([
  ["pipe:[11]", false, "pipe:[11]"],
  ["/var/log/out", false, "file[1a:2b]"],
  ["/dev/null", false, "file[1a:2b]"],
  ["/dev/null", true, "/dev/null"],
  ["/dev/pts/0", false, "/dev/pts/0"],
  ["socket:[3]", false, "socket:[3]"],
])("%s (inside: %s) is %s", (link, inside, key) => expect(streamKey({ link, mountId: 0x1a, inode: 0x2bn, inside })).toBe(key));

it("announces each outside file once", () => {
  expect(externalFiles(["file[1:2]", "pipe:[1]", "file[1:2]", "/dev/pts/0"])).toEqual(["file[1:2]"]);
});

it("a restore has to give pipes and outside files, each once", () => {
  expect(recordedStreams(["pipe:[1]", "pipe:[1]", "file[1:2]"])).toEqual([
    { key: "pipe:[1]", number: 0, isFile: false },
    { key: "file[1:2]", number: 2, isFile: true },
  ]);
  expect(recordedStreams(["/dev/pts/0", "socket:[3]", ""])).toEqual([]);
});
