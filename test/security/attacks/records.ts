/** Records of somebody else, which name what is not his: verbs that believe them signal and remove it for him. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, escaped, held, heldIf, type Outcome } from "../attack.ts";
import { type Subject, textOf } from "../subject.ts";

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

const PRECIOUS = "of the host";

/** A directory of the host's with files in two levels. */
function hostDirectory(subject: Subject): string {
  const victim = subject.scratch("host");
  mkdirSync(join(victim, "below"));
  for (const name of ["precious", "below/precious"]) writeFileSync(join(victim, name), PRECIOUS);
  return victim;
}

const isWhole = (victim: string) => ["precious", "below/precious"].every((name) => textOf(join(victim, name)) === PRECIOUS);

/** ROOT/ID is a link. The root is the runtime's own: it has made a container there. */
async function linkForContainer(subject: Subject): Promise<Outcome> {
  await subject.running();
  const victim = hostDirectory(subject);
  symlinkSync(victim, join(subject.root, "link"));
  const { status } = await subject.call(["delete", "--force", "link"]);
  rmSync(join(subject.root, "link"), { force: true });
  return heldIf(
    isWhole(victim),
    isWhole(victim) ? `status ${status}, the directory is whole` : "the directory that the link leads to is emptied",
  );
}

/** A link in the place of the next record: the file that it leads to is written. */
async function linkForNextRecord(subject: Subject): Promise<Outcome> {
  const id = await subject.running();
  const victim = hostDirectory(subject);
  for (const name of ["state.json.new", "state.json.tmp", "status.new", "config.json.new"])
    symlinkSync(join(victim, "precious"), join(subject.root, id, name));
  for (const args of [
    ["update", "--pids-limit", "77", id],
    ["pause", id],
    ["resume", id],
  ])
    await subject.call(args);
  return heldIf(isWhole(victim), isWhole(victim) ? "the file is unchanged" : "a file of the host is overwritten by the record");
}

/** exec.fifo is a link to that of another container. */
async function linkForFifo(subject: Subject): Promise<Outcome> {
  const made: string[] = [];
  for (let number = 0; number < 2; number++) {
    const id = subject.id();
    const bundle = subject.bundle((config) => {
      config.process.args = ["/bin/sleep", "1000"];
    });
    await subject.ok(["create", "-b", bundle, id]);
    made.push(id);
  }
  const [one = "", other = ""] = made;
  const [place, aside] = [join(subject.root, one, "exec.fifo"), join(subject.root, one, "aside")];
  if (!existsSync(place)) return held("there is no FIFO");
  renameSync(place, aside);
  symlinkSync(join(subject.root, other, "exec.fifo"), place);
  await subject.call(["start", one], { through: ["timeout", "-s", "KILL", "30"] });
  // The FIFO is still there, so the status does not tell.
  const program = textOf(`/proc/${await subject.pid(other)}/cmdline`);
  rmSync(place, { force: true });
  renameSync(aside, place);
  const isStarted = program.startsWith("/bin/sleep");
  return heldIf(!isStarted, isStarted ? "start of one container has started another" : "the other one still waits");
}

/** --root is a directory of somebody else's. */
async function foreignStateRoot(subject: Subject): Promise<Outcome> {
  const own = subject.root;
  const home = subject.scratch("home");
  for (const name of ["photos", "mail"]) {
    cpSync(hostDirectory(subject), join(home, name), { recursive: true });
    utimesSync(join(home, name), 0, 0);
  }
  subject.root = home;
  if (subject.isRunt) await subject.call(["gc", "--yes"]);
  else for (const name of ["photos", "mail"]) await subject.call(["delete", "--force", name]);
  if (subject.isRunt) await subject.call(["delete", "--force", "photos"]);
  subject.root = own;
  const whole = ["photos", "mail"].every((name) => isWhole(join(home, name)));
  return heldIf(whole, whole ? "nothing is removed" : "directories that no runtime has made are removed");
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "link for a container",
    title: "a symbolic link is in the place of a container's state directory, and the container is removed by force",
    mechanism: "ROOT/ID is opened without following a link; the link is removed itself",
    defences: "state-entry,state-mark",
    run: linkForContainer,
  },
  {
    id: "link for the next record",
    title: "a symbolic link to a file of the host has the name under which the next state record is written",
    mechanism: "a record is written to a file that is made exclusively; an existing file of that name is removed first",
    defences: "state-entry",
    run: linkForNextRecord,
  },
  {
    id: "link for exec.fifo",
    title: "exec.fifo is a symbolic link to that of another container, so that start would start that one",
    mechanism: "it is opened without following a link, and must be a FIFO of the caller or of root",
    defences: "state-entry",
    run: linkForFifo,
  },
  {
    id: "foreign state root",
    title: "--root names a directory of another program, whose directories look like containers whose create was killed",
    mechanism: "without runt's mark on the state root, only objects in a record of that container are removed",
    defences: "state-mark",
    run: foreignStateRoot,
  },
  {
    id: "planted record",
    title: "the user nobody owns the state root, or the directory in it, and its record names a process and a cgroup of root",
    mechanism: "every verb trusts only files of the caller or of root. Before it reads, it checks ROOT, and in a shared ROOT also ROOT/ID",
    defences: "state-root,state-entry",
    run: plantedRecord,
  },
  {
    id: "open state root",
    title: "all users may write to the state root, and a record is replaced between two verbs",
    mechanism: "a state root that others can write to is refused unless it is sticky",
    defences: "state-root",
    run: openRoot,
  },
];
