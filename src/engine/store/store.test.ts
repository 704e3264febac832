import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrateStore, Store, StoreError } from "./index.ts";
import { checksumOf } from "./rows.ts";

let directory: string;
let store: Store;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-store-"));
  store = new Store({ directory });
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

const record = (key: string, content = `{"key":"${key}"}`) => ({ kind: "task", key, content }) as const;
const codeOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
  return "no error";
};
/** Changes the file directly, like a flipped bit or another program. */
const tamper = (sql: string) => {
  store.close();
  const database = new DatabaseSync(join(directory, "engine.db"));
  database.exec(sql);
  database.close();
  store = new Store({ directory });
};

test("what a commit has put is there after the file was opened again, and what it has removed is not", () => {
  expect(store.commit({ put: [record("a"), record("b")], events: ["1"] })).toEqual([1]);
  expect(store.commit({ put: [record("a", "{}")], remove: [record("b")], events: ["2", "3"] })).toEqual([2, 3]);
  store.close();
  store = new Store({ directory });
  expect(store.load()).toEqual({ records: [record("a", "{}")], damaged: [] });
  expect(store.lastSequence).toBe(3);
  expect(store.events(1, 10)).toEqual({
    entries: [
      { sequence: 2, content: "2" },
      { sequence: 3, content: "3" },
    ],
    gap: false,
  });
});

test("a commit that fails leaves nothing of itself, and no sequence number is lost", () => {
  expect(codeOf(() => store.commit({ put: [record("a"), { ...record("b"), content: undefined as never }], events: ["x"] }))).toBe(
    "not-written",
  );
  expect(store.load().records).toEqual([]);
  expect(store.commit({ events: ["y"] })).toEqual([1]);
});

test.each([
  ["content", `UPDATE records SET content = replace(content, 'b', 'c') WHERE key = 'b'`, "b"],
  ["key", `UPDATE records SET key = 'z' WHERE key = 'b'`, "z"],
])("a row whose %s has changed is named and put into quarantine; its neighbours stay", (_, sql, key) => {
  store.commit({ put: [record("a"), record("b"), record("c")] });
  tamper(sql);
  expect(store.load()).toEqual({ records: [record("a"), record("c")], damaged: [{ kind: "task", key }] });
  expect(store.load().damaged).toEqual([]);
});

test("an event that is damaged or was dropped is a gap", () => {
  store.commit({ events: ["1", "2", "3"] });
  expect(store.events(3, 10)).toEqual({ entries: [], gap: false });
  tamper(`UPDATE journal SET content = '9' WHERE sequence = 2`);
  expect(store.events(0, 10)).toEqual({
    entries: [
      { sequence: 1, content: "1" },
      { sequence: 3, content: "3" },
    ],
    gap: true,
  });
  expect(store.events(2, 10).gap).toBe(false);
});

test("the journal is bounded, and numbers go on", () => {
  store.close();
  store = new Store({ directory, journalKept: 10 });
  for (let index = 0; index < 64; index++) store.commit({ events: Array.from({ length: 8 }, () => "{}") });
  const page = store.events(0, 1_000);
  expect(page.gap).toBe(true);
  expect(page.entries.length).toBeLessThan(300);
  expect(page.entries.at(-1)?.sequence).toBe(512);
});

test("the journal is bounded by age, from its beginning on: a clock that was set makes no hole", async () => {
  store.close();
  store = new Store({ directory, journalAgeMs: 60_000 });
  store.commit({ events: ["1", "2", "3", "4"] });
  tamper(`UPDATE journal SET wall_ms = wall_ms - 3600000 WHERE sequence IN (1, 2, 4)`);
  store.close();
  store = new Store({ directory, journalAgeMs: 60_000 });
  await store.backUp();
  expect(store.events(0, 10)).toEqual({
    entries: [
      { sequence: 3, content: "3" },
      { sequence: 4, content: "4" },
    ],
    gap: true,
  });
  expect(store.events(2, 10).gap).toBe(false);
  // All entries may be dropped, but numbers are not reused.
  tamper("UPDATE journal SET wall_ms = 0");
  await store.backUp();
  expect(store.events(2, 10)).toEqual({ entries: [], gap: true });
  expect(store.commit({ events: ["5"] })).toEqual([5]);
});

/** A store in the format of the first version of this program. */
const VERSION_1 = `
  CREATE TABLE records (kind TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, checksum TEXT NOT NULL, PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID;
  CREATE TABLE journal (sequence INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;
  CREATE TABLE quarantine (kind TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;
  INSERT INTO records VALUES ('task', 'a', '{"key":"a"}', '${checksumOf("task", "a", '{"key":"a"}')}');
  INSERT INTO records VALUES ('task', 'b', '{"key":"x"}', 'damaged');
  INSERT INTO journal VALUES (7, '{}', '${checksumOf("journal", "7", "{}")}');
  PRAGMA user_version = 1;`;

describe("versions", () => {
  const path = () => join(directory, "engine.db");
  const inFile = <T>(file: string, read: (database: DatabaseSyncInstance) => T): T => {
    const database = new DatabaseSync(file);
    try {
      return read(database);
    } finally {
      database.close();
    }
  };
  const versionOf = (file: string) =>
    inFile(file, (database) => database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  const old = () => {
    store.close();
    rmSync(path());
    inFile(path(), (database) => database.exec(VERSION_1));
    chmodSync(path(), 0o600);
  };

  test("an older store is migrated when it is opened: nothing is lost, and what it was is kept, with what is damaged in it", async () => {
    old();
    store = new Store({ directory });
    expect(store.load()).toEqual({ records: [record("a")], damaged: [{ kind: "task", key: "b" }] });
    // The age of its events starts with the migration.
    await store.backUp();
    expect(store.events(6, 10)).toEqual({ entries: [{ sequence: 7, content: "{}" }], gap: false });
    expect(store.commit({ events: ["x"] })).toEqual([8]);
    const copy = `${path()}.version-1`;
    expect(versionOf(copy)).toBe(1);
    expect(inFile(copy, (database) => database.prepare("SELECT key FROM records").all())).toEqual([{ key: "a" }, { key: "b" }]);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
  });

  test("back, for the older program, and up again", () => {
    store.commit({ put: [record("a")], events: ["1", "2"] });
    store.close();
    const copy = `${path()}.version-2`;
    expect(migrateStore(directory, 1)).toEqual({ path: path(), from: 2, to: 1, copy });
    expect([versionOf(path()), versionOf(copy)]).toEqual([1, 2]);
    // Writes a record in the way of the older program.
    inFile(path(), (database) => database.exec(`INSERT INTO journal VALUES (3, '3', '${checksumOf("journal", "3", "3")}')`));
    expect(migrateStore(directory, 1)).toEqual({ path: path(), from: 1, to: 1, copy: undefined });
    store = new Store({ directory });
    expect(store.load()).toEqual({ records: [record("a")], damaged: [] });
    expect(store.events(0, 10).entries.map(({ content }) => content)).toEqual(["1", "2", "3"]);
  });

  test("what is refused: a version that there is not, a daemon that runs, an empty directory, a newer store", () => {
    expect(codeOf(() => migrateStore(directory, 1))).toBe("in-use");
    store.close();
    expect([0, 3, 1.5].map((to) => codeOf(() => migrateStore(directory, to)))).toEqual(Array(3).fill("unknown-schema"));
    expect(versionOf(path())).toBe(2);
    inFile(path(), (database) => database.exec("PRAGMA user_version = 3"));
    expect(() => migrateStore(directory, 2)).toThrow(
      "its schema is version 3, and this program knows 2; the newer program leads back: runtd migrate --to 2",
    );
    rmSync(path());
    expect(codeOf(() => migrateStore(directory, 1))).toBe("unknown-schema");
  });

  test("without a copy of what is there nothing is migrated", () => {
    old();
    mkdirSync(`${path()}.version-1.new/x`, { recursive: true });
    expect(codeOf(() => new Store({ directory }))).toBe("not-written");
    expect([versionOf(path()), existsSync(`${path()}.version-1`)]).toEqual([1, false]);
    rmSync(`${path()}.version-1.new`, { recursive: true });
    store = new Store({ directory });
    expect(store.load().records).toEqual([record("a")]);
  });
});

test("a backup is whole when it has its name; one that cannot be made leaves the one before", async () => {
  store.commit({ put: [record("a"), record("b")], events: ["1"] });
  await store.backUp();
  const backup = join(directory, "engine.db.backup");
  const restored = mkdtempSync(join(tmpdir(), "runt-store-"));
  try {
    execFileSync("cp", [backup, join(restored, "engine.db")]);
    chmodSync(join(restored, "engine.db"), 0o600);
    const copy = new Store({ directory: restored });
    expect([copy.load().records, copy.lastSequence]).toEqual([[record("a"), record("b")], 1]);
    copy.close();
  } finally {
    rmSync(restored, { recursive: true, force: true });
  }
  // A damaged database must not replace an intact copy.
  tamper(`UPDATE records SET content = 'x' WHERE key = 'a'`);
  const before = statSync(backup).mtimeMs;
  await expect(store.backUp()).rejects.toMatchObject({ code: "not-written" });
  expect([statSync(backup).mtimeMs, existsSync(`${backup}.new`)]).toEqual([before, false]);
});

test.skipIf(process.geteuid?.() !== 0)(
  "a full disk: what was kept in reserve is given back, then nothing is written, and nothing is lost (needs root)",
  () => {
    store.close();
    const full = join(directory, "full");
    mkdirSync(full);
    // The mount is in a mount namespace of another process, so that it disappears with it.
    const program = join(directory, "full.mts");
    writeFileSync(program, FULL_DISK.replace("STORE", new URL("./index.ts", import.meta.url).pathname));
    const tsx = new URL("../../../node_modules/.bin/tsx", import.meta.url).pathname;
    const script = 'mount -t tmpfs -o size=32m,mode=700 none "$1" && exec "$2" "$3" "$1"';
    const output = execFileSync("unshare", ["-m", "--propagation", "private", "sh", "-c", script, "sh", full, tsx, program], {
      encoding: "utf8",
    });
    expect(JSON.parse(output)).toEqual({
      reserve: true,
      spent: false,
      refused: "not-written",
      kept: true,
      again: true,
      reserveAgain: true,
    });
  },
);

/** Fills the disk, then uses up the reserve, then frees space again. */
const FULL_DISK = `
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { Store } from "STORE";
const directory = process.argv[2];
const reserve = directory + "/engine.db.reserve";
const store = new Store({ directory });
const answer = { reserve: existsSync(reserve) };
const filler = directory + "/filler";
const fill = () => { try { for (let n = 0; ; n++) writeFileSync(filler, "x".repeat(4096), { flag: "a" }); } catch {} };
fill();
let count = 0;
let code;
const put = () => store.commit({ put: [{ kind: "task", key: "k" + count, content: JSON.stringify("y".repeat(20000)) }] });
while (code === undefined && count < 1000) {
  try { put(); count++; } catch (error) { code = error.code; }
}
answer.spent = existsSync(reserve);
answer.refused = code;
// More records are written than the first one that did not fit, and all of them are there.
answer.kept = count > 10 && store.load().records.length === count;
rmSync(filler);
put();
answer.again = store.load().records.length === count + 1;
await store.backUp();
answer.reserveAgain = existsSync(reserve);
store.close();
console.log(JSON.stringify(answer));
`;

test("without room for a reserve there is none, and the store opens", () => {
  store.close();
  rmSync(join(directory, "engine.db.reserve"));
  // A link to a missing directory prevents the write.
  execFileSync("ln", ["-s", "/nonexistent/reserve", join(directory, "engine.db.reserve")]);
  store = new Store({ directory });
  expect(store.commit({ put: [record("a")] })).toEqual([]);
});

describe("what is refused", () => {
  test("a second store in the same directory, also of this process", () => {
    expect(codeOf(() => new Store({ directory }))).toBe("in-use");
  });

  test("a file of a newer version, and one that is no database", () => {
    tamper("SELECT 1");
    store.close();
    const database = new DatabaseSync(join(directory, "engine.db"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect(codeOf(() => new Store({ directory }))).toBe("newer-schema");
    execFileSync("sh", ["-c", `rm -f engine.db-*; seq 10000 > engine.db`], { cwd: directory });
    expect(codeOf(() => new Store({ directory }))).toBe("unreadable");
  });

  test("a directory that others may write, a link, and a relative path", () => {
    store.close();
    chmodSync(directory, 0o770);
    expect(codeOf(() => new Store({ directory }))).toBe("not-ours");
    expect(codeOf(() => new Store({ directory: "state" }))).toBe("not-ours");
    chmodSync(directory, 0o700);
    execFileSync("mv", [join(directory, "engine.db"), join(directory, "other")]);
    execFileSync("ln", ["-s", "other", join(directory, "engine.db")]);
    expect(codeOf(() => new Store({ directory }))).toBe("not-ours");
  });

  test.each(["-wal", "-journal", "-shm"])(
    "a link or a FIFO for the file %s of SQLite: it would be written into what the link leads to",
    (end) => {
      store.close();
      const path = join(directory, `engine.db${end}`);
      for (const [program, ...args] of [
        ["ln", "-s", join(directory, "other"), path],
        ["mkfifo", path],
      ] as const) {
        execFileSync(program, args);
        expect(codeOf(() => new Store({ directory }))).toBe("not-ours");
        rmSync(path);
      }
      expect(existsSync(join(directory, "other"))).toBe(false);
    },
  );

  test.skipIf(process.geteuid?.() !== 0)("a directory of another user (needs root)", () => {
    store.close();
    chownSync(directory, 12_345, 12_345);
    expect(codeOf(() => new Store({ directory }))).toBe("not-ours");
  });
});
