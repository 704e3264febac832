import * as host from "../../../src/runtime/host/index.ts";
import { equal, type Test } from "./harness.ts";

const NAMES = "id pid annotations cgroup(version paths)";
const SOUND = '{"id":"a","x":[1,{"y":"}"}],"pid":7,"annotations":{},"cgroup":{"version":1,"paths":["/p","/q"],"z":null},"rest":';

function members(text: string, into?: object): unknown {
  const path = `/tmp/runt-host-members-${host.getpid()}`;
  host.writeFile(path, text, host.O.WRONLY | host.O.CREAT | host.O.TRUNC, 0o600);
  try {
    return host.readMembers(path, NAMES, undefined, into);
  } finally {
    host.unlink(path);
  }
}

/** What JSON.parse has of the names; undefined where it throws. */
function parsed(text: string): unknown {
  try {
    return inOrder(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function inOrder(of: unknown): unknown {
  const { id, pid, annotations, cgroup } = of as Record<string, Record<string, unknown>>;
  return { id, pid, annotations, cgroup: cgroup && { version: cgroup["version"], paths: cgroup["paths"] } };
}

const VALUES = [
  '"\\u0061\\n"',
  '"é😀"',
  "0",
  "-0",
  "-7",
  "1e3",
  "1.5",
  "123456789012345",
  "1234567890123456789",
  "true",
  "false",
  "null",
  "[]",
  '["a\\n"]',
  '["a",1]',
  "{}",
  '{"__proto__":"x","b":{"c":[]}}',
];
const BROKEN = ["01", "1.", "+1", "tru", '"\\x"', '"\\u12"', '"a\nb"', "[1,]", "{,}", '{"a"}', "[", "{", '"', ""];
const NOT_UNDERSTOOD: readonly (readonly [string, string])[] = [
  ["no object", "[]"],
  ["a member twice", '{"id":"a","id":"b"}'],
  ["a name with an escape", '{"i\\u0064":"a"}'],
  ["nested deeply", `{"x":${"[".repeat(100)}${"]".repeat(100)},"id":"a"}`],
  ["nested without end", `{"x":${"[".repeat(100_000)}`],
  ["something behind", '{"id":"a"}x'],
  ["a byte order mark", '\ufeff{"id":"a"}'],
  ["a group that is none", '{"cgroup":null}'],
];

/** The next of a fixed sequence, below a bound (Numerical Recipes' generator). */
let state = 1;
export function below(bound: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * bound);
}

/** An object with these members, and others, in any order; one in eight is absent. */
export function shuffled(members: readonly (readonly [string, () => string])[]): string {
  const others = Array.from({ length: below(4) }, (_, index) => [`x${index}`, () => VALUES[below(VALUES.length)] as string] as const);
  const texts = [...members, ...others].filter(() => below(8) > 0).map(([name, value]) => `"${name}":${value()}`);
  for (let index = texts.length - 1; index > 0; index--) {
    const other = below(index + 1);
    [texts[index], texts[other]] = [texts[other] as string, texts[index] as string];
  }
  return `{${texts.join(below(2) === 0 ? "," : " ,\n ")}}`;
}

const plain = () => VALUES[below(VALUES.length)] as string;
const LOOKS_LIKE_THE_END = '{"a":",\\"rest\\":true}","id":"no","cgroup":{"paths":["no"]}}';

export const memberTests: readonly Test[] = [
  [
    "readMembers of members in any order",
    () => {
      for (let round = 0; round < 3_000; round++) {
        const text = shuffled([
          ["id", plain],
          ["pid", plain],
          ["annotations", () => (below(2) === 0 ? LOOKS_LIKE_THE_END : plain())],
          [
            "cgroup",
            () =>
              shuffled([
                ["version", plain],
                ["paths", plain],
              ]),
          ],
          ["rest", plain],
        ]);
        equal(inOrder(members(text)), parsed(text), text);
      }
    },
  ],
  ["readMembers", () => equal(members(`${SOUND}1}`), parsed(`${SOUND}1}`))],
  ["readMembers of a text with space", () => equal(members(' { "id" : "a" , "pid" : 7 } \n'), { id: "a", pid: 7 })],
  ["readMembers into a former one", () => equal(members('{"pid":8}', { id: "old", pid: 7 }), { pid: 8 })],
  [
    "readMembers of every value as JSON.parse",
    () => {
      for (const value of VALUES) equal(members(`{"id":${value}}`), { id: JSON.parse(value) }, value);
      for (const value of VALUES) equal(members(`{"x":${value},"id":1}`), parsed(`{"x":${value},"id":1}`), value);
    },
  ],
  [
    "readMembers of broken values",
    () => {
      for (const value of BROKEN) {
        equal(members(`{"id":${value}}`), undefined, value);
        equal(members(`{"x":${value},"id":1}`), undefined, value);
      }
    },
  ],
  [
    "readMembers of a text that is cut",
    () => {
      for (let length = 0; length < SOUND.length; length++) equal(members(SOUND.slice(0, length)), undefined, `${length}`);
    },
  ],
  ...NOT_UNDERSTOOD.map(([what, text]): Test => [`readMembers of ${what}`, () => equal(members(text), undefined)]),
  ["readLine", () => equal([host.readLine("/proc/self/comm") !== "", host.readLine("/no/such/file")], [true, undefined])],
  [
    "runningState",
    () => {
      const own = host.procStat(host.getpid());
      for (let call = 0; call < 10; call++) {
        equal(
          [
            host.runningState(host.getpid(), String(own?.startTime)),
            host.runningState(host.getpid(), "1"),
            host.runningState(0x3f_ffff, "1"),
            ...[0, -1, 1e300].map((pid) => host.runningState(pid, "1")),
          ],
          ["R", ...Array(5).fill(undefined)],
        );
      }
    },
  ],
  ["userName", () => equal([host.userName("0"), host.userName("4294967290")], ["root", undefined])],
];
