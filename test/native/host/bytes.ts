import * as host from "../../../src/runtime/host/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

function hex(buffer: ArrayBuffer): string {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytes(...values: number[]): ArrayBuffer {
  return new Uint8Array(values).buffer as ArrayBuffer;
}

/** Fields of one operation as a plan has them, behind the words of plan and operation. */
function fields(letters: string, ...values: readonly unknown[]): ArrayBuffer {
  const names = values.map((_, index) => `f${index}`);
  const args = Object.fromEntries(values.map((value, index) => [names[index], value]));
  return host.packPlan(1, 2, 3, { x: [7, letters, ...names] }, ["init"], [{ op: "x", actor: "init", args }]).slice(36);
}

export const bytesTests: readonly Test[] = [
  ["utf8Encode", () => equal(hex(host.utf8Encode("aä€😀")), "61c3a4e282acf09f9880")],
  ["utf8Decode", () => equal(host.utf8Decode(host.utf8Encode("xaä€😀y"), 1, 10), "aä€😀")],
  ["utf8Decode whole", () => equal(host.utf8Decode(bytes()), "")],
  ["utf8Decode refuses overlong forms", () => throws("EILSEQ", () => host.utf8Decode(bytes(0xc0, 0x80)))],
  ["utf8Decode refuses surrogates", () => throws("EILSEQ", () => host.utf8Decode(bytes(0xed, 0xa0, 0x80)))],
  ["utf8Decode refuses more than U+10FFFF", () => throws("EILSEQ", () => host.utf8Decode(bytes(0xf4, 0x90, 0x80, 0x80)))],
  ["utf8Decode refuses a cut end", () => throws("EILSEQ", () => host.utf8Decode(bytes(0x61, 0xe2, 0x82)))],
  ["utf8Decode checks its bounds", () => throws("RangeError", () => host.utf8Decode(bytes(1, 2), 1, 2))],
  [
    "packPlan: the words of plan and operation",
    () => {
      const ops = ["runtime", "init"].map((actor) => ({ op: "x", actor, args: { a: 5 } }));
      const words = [0x11, 2, 40, 1, 3, 7, 1, 1, 4, 5];
      equal(hex(host.packPlan(0x11, 2, 3, { x: [7, "u", "a"] }, ["intermediate", "init"], ops)), hex(Uint32Array.from(words).buffer));
    },
  ],
  ["packPlan u", () => equal(hex(fields("uu", 1, 0xffff_ffff)), "01000000ffffffff")],
  ["packPlan bool", () => equal(hex(fields("uu", true, false)), "0100000000000000")],
  ["packPlan q", () => equal(hex(fields("qqq", 1n, -1n, 2)), "0100000000000000ffffffffffffffff0200000000000000")],
  ["packPlan s", () => equal(hex(fields("s", "hé")), "0300000068c3a900")],
  ["packPlan S", () => equal(hex(fields("S", ["a", ""])), "020000000100000061000000000000")],
  ["packPlan U", () => equal(hex(fields("U", [7, 8])), "020000000700000008000000")],
  [
    "packPlan grows",
    () =>
      equal(
        fields(
          "S",
          Array.from({ length: 3000 }, () => "x".repeat(200)),
        ).byteLength,
        4 + 3000 * 205,
      ),
  ],
  ["packPlan refuses NUL", () => throws("EINVAL", () => fields("s", "a\0b"))],
  ["packPlan refuses numbers out of range", () => throws("RangeError", () => fields("u", 2 ** 32))],
  [
    "packPlan refuses an unknown operation",
    () => throws("TypeError", () => host.packPlan(1, 2, 3, {}, ["init"], [{ op: "y", actor: "init", args: {} }])),
  ],
  ["sha256 of nothing", () => equal(host.sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")],
  ["sha256 of abc", () => equal(host.sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")],
  [
    "sha256 of two blocks",
    () =>
      equal(
        host.sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
      ),
  ],
  [
    "sha256 of a million a",
    () => equal(host.sha256("a".repeat(1_000_000)), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ],
  ["needsExactParser: 15 digits", () => equal(host.needsExactParser('{"a":123456789012345,"b":[1,2]}'), false)],
  ["needsExactParser: 16 digits", () => equal(host.needsExactParser('{"a":-1234567890123456}'), true)],
  ["needsExactParser: nested as deep as may be", () => equal(host.needsExactParser(`${"[".repeat(256)}"{["${"]".repeat(256)}`), false)],
  ["needsExactParser: many, but not deep", () => equal(host.needsExactParser(`[${'[{"\\"[":[]}],'.repeat(5000)}]`), false)],
  ["needsExactParser: a level too deep", () => equal(host.needsExactParser(`${'{"a":'.repeat(257)}1${"}".repeat(257)}`), true)],
  ["needsExactParser: a million levels", () => equal(host.needsExactParser("[".repeat(1_000_000)), true)],
  ["needsExactParser: in a string", () => equal(host.needsExactParser('{"a":"12345678901234567890\\"123456789012345678"}'), false)],
  [
    "strerror",
    () => equal([host.strerror(2), host.strerror(17), host.strerror(4095)], ["no such file or directory", "file exists", "errno 4095"]),
  ],
  ["errnoName", () => equal([host.errnoName(11), host.errnoName(95), host.errnoName(9999)], ["EAGAIN", "EOPNOTSUPP", "E9999"])],
  ["signals", () => equal([host.signalNumber("TERM"), host.signalNumber("RTMIN+3"), host.signalNumber("NO")], [15, 37, undefined])],
  ["signal names", () => equal([host.signalName(9), host.signalName(37), host.signalName(33)], ["KILL", "RTMIN+3", undefined])],
  ["resource", () => ok(host.resource("no such") === undefined, "an unknown resource is undefined")],
  ["a big heap", () => equal(Array.from({ length: 300_000 }, (_, index) => ({ index, text: `n${index}` })).length, 300_000)],
  ["architecture", () => ok(["amd64", "arm64"].includes(host.architecture), host.architecture)],
];
