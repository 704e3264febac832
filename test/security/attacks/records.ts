/** Records of somebody else, which name what is not his: verbs that believe them signal and remove it for him. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, escaped, held, type Outcome } from "../attack.ts";
import type { Subject } from "../subject.ts";

const NOBODY = "65534:65534";
const VERBS: readonly (readonly string[])[] = [
  ["state"],
  ["ps"],
  ["pause"],
  ["resume"],
  ["update", "--pids-limit", "7"],
  ["exec", "ID", "true"],
  ["kill", "ID", "KILL"],
  ["delete", "--force"],
];

/** The record of a container of root's, copied to a state root of nobody's. */
async function plantedRecord(subject: Subject): Promise<Outcome> {
  const victim = await subject.running();
  const pid = await subject.pid(victim);
  const own = subject.root;
  const details: string[] = [];
  for (const place of ["root", "sticky"] as const) {
    const planted = subject.scratch("planted");
    cpSync(join(own, victim), join(planted, victim), { recursive: true, filter: (path) => !path.endsWith(".fifo") });
    execFileSync("chown", ["-R", NOBODY, planted]);
    // A directory in which everybody makes something: it is root's, the record is not.
    if (place === "sticky") execFileSync("sh", ["-c", 'chown 0:0 "$1" && chmod 1777 "$1"', "sh", planted]);
    subject.root = planted;
    for (const words of VERBS) {
      const args = words.includes("ID") ? words.map((word) => (word === "ID" ? victim : word)) : [...words, victim];
      const { status } = await subject.call(args);
      if (status === 0) details.push(`${place}: ${words[0]} believes it`);
    }
    if (subject.isRunt) await subject.call(["gc", "--yes"]);
    subject.root = own;
    if (!isAlive(pid)) return escaped(`a process of root's is killed; ${details.join(", ")}`);
  }
  return details.length === 0 ? held("every verb refuses it") : escaped(details.join(", "));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Everybody may replace what is in it. */
async function openRoot(subject: Subject): Promise<Outcome> {
  const id = await subject.running();
  execFileSync("chmod", ["0777", subject.root]);
  mkdirSync(join(subject.root, "other"), { mode: 0o711 });
  writeFileSync(join(subject.root, "other/state.json"), "{}");
  const { status, stderr } = await subject.call(["state", id]);
  execFileSync("sh", ["-c", 'chmod 0700 "$1" && rm -r "$1/other"', "sh", subject.root]);
  return status === 0 ? escaped("records that everybody may replace are believed") : held(stderr.trim());
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "planted record",
    title: "nobody owns the state root, or the directory in it: the record there names a process and a cgroup of root's",
    mechanism: "every verb believes only what the caller or root owns, and looks at ROOT, and in shared ones at ROOT/ID, before it reads",
    defences: "state-root",
    run: plantedRecord,
  },
  {
    id: "open state root",
    title: "everybody may write to the state root: a record is replaced between two verbs",
    mechanism: "a state root that others can write to is refused unless it is sticky",
    defences: "state-root",
    run: openRoot,
  },
];
