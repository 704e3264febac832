import * as host from "../../../src/runtime/host/index.ts";
import { equal, type Test } from "./harness.ts";
import { below, shuffled } from "./members.ts";

const OWN = { pid: host.getpid(), startTime: String(host.procStat(host.getpid())?.startTime) };
const PATHS = ["/sys/fs/cgroup/cpu/x", "/sys/fs/cgroup/freezer/x"];
const directory = `/tmp/runt-host-containers-${OWN.pid}`;
const O = host.O;

type Member = readonly [name: string, value: () => string];
const one = (...texts: readonly string[]) => texts[below(texts.length)] as string;
/** Nearly always the ordinary one. */
const mostly = (usual: string, ...others: readonly string[]) => (below(12) === 0 ? one(...others) : usual);

/** A record, in any order, with some members that are odd or absent. */
function record(id: string): string {
  const members: Member[] = [
    ["schema", () => mostly("1", "2", '"1"', "1.0", "01")],
    ["minor", () => mostly("1", "0", "7", "-1", "null")],
    ["id", () => mostly(`"${id}"`, '"other"', '""', "7", `"\\u0061"`)],
    ["phase", () => mostly('"created"', '"creating"', '"x"', "null")],
    ["bundle", () => mostly('"/b"', '"/ä漢😀"', '""', '"\\n"', "7")],
    ["created", () => mostly('"now"', '""', "7", '"\\u0041"')],
    ["owner", () => mostly("0", "4123456", "4294967295", '"0"', "-0")],
    ["pid", () => mostly(String(OWN.pid), "0", "4194000", "99999999999", "-5", "1e3", '"7"')],
    ["startTime", () => mostly(`"${OWN.startTime}"`, '"1"', "1", '""')],
    ["annotations", () => mostly("{}", '{"a":"}"}', "null", "[]", '"x"')],
    ["cgroup", () => mostly(`{"version":1,"paths":${JSON.stringify(PATHS)},"missing":[]}`, '{"version":1}', "null", '{"paths":[]}', "{}")],
    ["warnings", () => mostly("[]", '["}"]', `["${"w".repeat(40_000)}"]`)],
  ];
  const kept = members.filter(() => below(100) > 0);
  const others = Array.from({ length: below(3) }, (_, index): Member => [`x${index}`, () => one("[]", "{}", '"y"', '{"id":"z"}')]);
  const all = below(4) === 0 ? shuffled([...kept, ...others]) : `{${[...kept, ...others].map(([name, value]) => `"${name}":${value()}`)}}`;
  return below(40) === 0 ? all.slice(0, below(all.length)) : all;
}

/** The row of it when nothing about it is unusual. */
function ordinary(id: string, text: string): readonly string[] | undefined {
  let of: Record<string, unknown>;
  try {
    of = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const { schema, minor, phase, bundle, created, owner, pid, startTime, annotations } = of;
  const cgroup = of["cgroup"] as { version?: unknown; paths?: unknown } | null | undefined;
  const isOrdinary =
    schema === 1 &&
    (minor as number) >= 1 &&
    of["id"] === id &&
    phase === "created" &&
    [bundle, created, startTime].every((value) => typeof value === "string") &&
    typeof owner === "number" &&
    typeof pid === "number" &&
    pid > 0 &&
    typeof annotations === "object" &&
    annotations !== null &&
    (cgroup === undefined || Array.isArray(cgroup?.paths));
  if (!isOrdinary) return undefined;
  const isAlive = pid === OWN.pid && startTime === OWN.startTime;
  // Of one that is over nobody asks whether it is frozen.
  if (isAlive && cgroup && cgroup.version !== 1) return undefined;
  return [id, isAlive ? String(pid) : "0", isAlive ? "running" : "stopped", bundle as string, created as string, `owner ${owner}`];
}

function written(): string {
  const path = `${directory}/rows`;
  const fd = host.open(path, O.WRONLY | O.CREAT | O.TRUNC, 0o600);
  host.writeRows(fd, 0);
  host.close(fd);
  return host.readFile(path);
}

function rowText(cells: readonly string[]): string {
  return `${cells.map((cell, index) => (index === cells.length - 1 ? cell : `${cell}   `)).join("")}\n`;
}

const ownerName = (uid: number) => `owner ${uid}`;
/** The process that asks is running: so its cgroup is not looked at. */
const AWAKE = "R";
const ID = "a";

/** The rows of the one container with these records, one after the other; undefined: it was left to the caller. */
function rowsOf(records: readonly string[], awake = AWAKE): (string | undefined)[] {
  const container = `${directory}/${ID}`;
  for (const path of [directory, container]) host.mkdir(path, 0o700);
  const fd = host.open(directory, O.RDONLY | O.DIRECTORY);
  try {
    return records.map((text) => {
      host.writeFile(`${container}/state.json`, text, O.WRONLY | O.CREAT | O.TRUNC, 0o600);
      const index = host.addContainers(fd, [ID], 0, 1, 1, awake, ownerName);
      const row = written();
      equal(row === "", index === 0, text);
      return row === "" ? undefined : row;
    });
  } finally {
    host.close(fd);
    for (const name of [`${ID}/state.json`, "rows"]) if (host.lstat(`${directory}/${name}`)) host.unlink(`${directory}/${name}`);
    for (const path of [container, directory]) host.rmdir(path);
  }
}

const SOUND = {
  schema: 1,
  minor: 1,
  id: ID,
  phase: "created",
  bundle: "/b",
  created: "now",
  owner: 0,
  ...OWN,
  annotations: {},
  cgroup: { version: 1, paths: PATHS },
  warnings: [],
};
const SOUND_ROW = rowText([ID, String(OWN.pid), "running", "/b", "now", "owner 0"]);

export const containerTests: readonly Test[] = [
  [
    "addContainers of records in any order, with odd members",
    () => {
      const records = Array.from({ length: 3_000 }, () => record(ID));
      let added = 0;
      for (const [index, row] of rowsOf(records).entries()) {
        if (row === undefined) continue;
        const cells = ordinary(ID, records[index] as string);
        equal(row, cells && rowText(cells), records[index]);
        added++;
      }
      equal(added > 800, true, `${added} added`);
    },
  ],
  ["addContainers of a sound record", () => equal(rowsOf([JSON.stringify(SOUND), JSON.stringify(SOUND, null, 1)]), [SOUND_ROW, SOUND_ROW])],
  [
    "addContainers of a record that is cut",
    () => {
      const text = JSON.stringify(SOUND);
      equal(
        rowsOf(Array.from({ length: text.length }, (_, length) => text.slice(0, length))).filter((row) => row !== undefined),
        [],
      );
    },
  ],
  ["addContainers asks where a state says nothing", () => equal(rowsOf([JSON.stringify(SOUND)], "S"), [undefined])],
  [
    "addContainers leaves the first that is odd, and goes on behind it",
    () => {
      host.mkdir(directory, 0o700);
      const fd = host.open(directory, O.RDONLY | O.DIRECTORY);
      const ids = ["a", "b", "c", "d"];
      try {
        for (const id of ids) {
          host.mkdir(`${directory}/${id}`, 0o700);
          host.writeFile(`${directory}/${id}/state.json`, id === "c" ? "{}" : JSON.stringify({ ...SOUND, id }), O.WRONLY | O.CREAT, 0o600);
        }
        equal(
          [0, 2, 3, 4].map((from) => host.addContainers(fd, ids, from, 1, 1, AWAKE, ownerName)),
          [2, 2, 4, 4],
        );
        equal(written(), ["a", "b", "d"].map((id) => SOUND_ROW.replace(ID, id)).join(""));
      } finally {
        host.close(fd);
        for (const id of ids) {
          host.unlink(`${directory}/${id}/state.json`);
          host.rmdir(`${directory}/${id}`);
        }
        host.unlink(`${directory}/rows`);
        host.rmdir(directory);
      }
    },
  ],
  [
    "addContainers of no list of ids",
    () => {
      let thrown = "";
      const fd = host.open("/", O.RDONLY | O.DIRECTORY);
      try {
        host.addContainers(fd, [], 0, 1, 1, AWAKE, ownerName);
        host.addContainers(fd, "none" as unknown as string[], 0, 1, 1, AWAKE, ownerName);
      } catch (error) {
        thrown = (error as Error).name;
      } finally {
        host.close(fd);
      }
      equal(thrown, "TypeError");
    },
  ],
];
