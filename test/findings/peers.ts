/**
 * How many of the broken bundles other runtimes refuse before anything runs, beside runt; as root, some minutes:
 * tsx test/findings/peers.ts [--only CODE] [--tool PATH] [--write]. With --write the result goes into docs/findings.md. --tool: the oci-runtime-tool
 * of the OCI runtime-tools, which no package has; its `validate` is asked as well.
 *
 * Each bundle is tried in namespaces of its own (peers-script.ts). Counted are those whose finding is an error on this very host, and whose clean
 * twin runt creates: otherwise nothing could be told from a refusal.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CHAPTERS, type Edits, entryOf } from "../../src/runtime/check/catalogue/index.ts";
import { REPOSITORY } from "../support/programs.ts";
import { configText, makeFiles, within } from "./bundle.ts";
import type { Case } from "./case.ts";
import { CASES } from "./cases/index.ts";
import { PARENT, removeCgroups, SCRIPT } from "./peers-script.ts";
import { replaceSection } from "./section.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, tool: { type: "string" }, write: { type: "boolean", default: false } },
});
const RUNT = join(REPOSITORY, "bin/runt");
const RUNTIMES: readonly string[] = [RUNT, "runc", "crun", ...(values.tool ? [resolve(values.tool)] : [])];
const LONGEST_MS = 60_000;
/** What timeout(1) says. */
const TIMED_OUT = [124, 137];

/** Namespaces of other processes, root filesystems, sources and cgroups of the host: not to be tried with a runtime that might take them. */
const OF_THE_HOST =
  /\/proc\/(?:\d|self\/ns)|\/run\/|"source":"\/(?!bundle|srv|usr\/)|"\/root\/path":"\/(?!bundle)|"\/linux\/cgroupsPath"|"kernel\.(?!msg|shm|sem|domainname)|"vm\./;

interface Trial {
  readonly codes: readonly string[];
  /** Status of create, by runtime. */
  readonly statuses: readonly number[];
}

interface Judged {
  readonly code: string;
  readonly broken: readonly number[];
  readonly clean: readonly number[];
}

/** One bundle with all runtimes. */
function attempt(one: Case, edits: Edits, place: string, name: string, isBroken: boolean): Trial {
  return within(place, () => {
    const [made, seen] = [join(place, "made"), join(place, "seen")];
    mkdirSync(made);
    mkdirSync(seen);
    makeFiles(made, one.files);
    // An older crun does not take the newest version.
    const common = { "/ociVersion": "1.0.2", ...("/linux" in edits ? {} : { "/linux/cgroupsPath": `/${PARENT}/${name}` }) };
    const all = { ...common, ...edits };
    // The paths in it are those of the copy.
    writeFileSync(join(made, "bundle/config.json"), configText(one, all, seen, isBroken));
    const around = ["--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc", "--uts", "--propagation", "private"];
    const command = [...around, "sh", "-c", SCRIPT, "sh", place, RUNT, `${PARENT}-${name}`, ...RUNTIMES];
    const { stdout, stderr, status } = spawnSync("unshare", command, {
      encoding: "utf8",
      timeout: LONGEST_MS,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (status !== 0) throw new Error(`${one.code} could not be tried: ${status} ${stderr}`);
    const [document = "", ...lines] = stdout.split("\n===");
    const { findings } = JSON.parse(document) as { findings: { code: string; severity: string }[] };
    if (values.only) console.log(lines.join("\n"));
    return {
      codes: findings.filter(({ severity }) => severity === "error").map(({ code }) => code),
      statuses: lines.map((line) => Number.parseInt(line, 10)),
    };
  });
}

/** Most broken bundles have the same one. */
const twins = new Map<string, Trial>();

function cleanTwin(one: Case, directory: string, index: number): Trial {
  const key = JSON.stringify([one.fixed, one.files]);
  const known = twins.get(key) ?? attempt(one, one.fixed ?? {}, join(directory, `${index}c`), `${index}c`, false);
  twins.set(key, known);
  return known;
}

/** undefined: nothing can be told from this one on this host. */
function judge(one: Case, directory: string, index: number): Judged | undefined {
  if (entryOf(one.code)?.level !== "error" && one.code !== "config-invalid") return undefined;
  if (one.rootless || one.systemd || OF_THE_HOST.test(JSON.stringify([one.broken, one.fixed]))) return undefined;
  const broken = attempt(one, one.broken, join(directory, `${index}b`), `${index}b`, true);
  if (!broken.codes.includes(one.code)) return undefined;
  const clean = cleanTwin(one, directory, index);
  if (clean.codes.length > 0 || clean.statuses[0] !== 0) return undefined;
  return { code: one.code, broken: broken.statuses, clean: clean.statuses };
}

const chapterOf = (code: string): string =>
  CHAPTERS.find(([, entries]) => Object.hasOwn(entries, code))?.[0] ?? "The file and its structure";

/** Refused by the runtime at this index, of which it creates the clean twin. */
function refusedBy(all: readonly Judged[], index: number): number {
  return all.filter(({ broken, clean }) => clean[index] === 0 && broken[index] !== 0 && !TIMED_OUT.includes(broken[index] ?? 0)).length;
}

function tableOf(all: readonly Judged[]): string {
  const row = (title: string, some: readonly Judged[]) =>
    `| ${[title, some.length, some.length, ...RUNTIMES.map((_, index) => refusedBy(some, index))].join(" | ")} |`;
  const chapters = [...new Set(CHAPTERS.map(([title]) => title))];
  const version = (name: string) => spawnSync(name, ["--version"], { encoding: "utf8" }).stdout.split("\n", 1)[0];
  const unable = RUNTIMES.map((_, index) => all.filter(({ clean }) => clean[index] !== 0).length);
  const hung = RUNTIMES.map((_, index) => all.filter(({ broken }) => TIMED_OUT.includes(broken[index] ?? 0)).length);
  return [
    `test/findings has ${CASES.length} broken bundles. ${all.length} of them have a finding that is an error on this host (cgroup v1, as root), use`,
    "nothing of the host, and have a clean twin that runt creates here (`tsx test/findings/peers.ts`). The table shows how",
    "many of these bundles each program refused.",
    "",
    `| | broken bundles | runt validate | runt create | runc create | crun create |${values.tool ? " runtime-tool validate |" : ""}`,
    `| --- | ---: | ---: | ---: | ---: | ---: |${values.tool ? " ---: |" : ""}`,
    ...chapters.flatMap((title) => {
      const some = all.filter(({ code }) => chapterOf(code) === title);
      return some.length > 0 ? [row(title, some)] : [];
    }),
    row("**all**", all),
    "",
    `The versions are ${version("runc")} and ${version("crun")}. Two kinds of refusals are not counted.`,
    `The clean twin was also refused: ${unable[1]} by runc, ${unable[2]} by crun${values.tool ? `, ${unable[3]} by runtime-tool` : ""}.`,
    `Or create did not end within five seconds: ${hung.slice(0, 3).join(", ")} (runt, runc, crun).`,
    "`runt create` accepts some bundles that `runt validate` refuses, because they fail only at `start`. Their faults are the",
    "program's format and interpreter, its directory, its address space, and a filter without execve.",
    "",
    values.tool
      ? `The tool is ${version(values.tool)}, built from its repository.\nThe section above lists its checks that runt leaves out.`
      : "oci-runtime-tool was not measured (--tool). The section above lists its checks that runt leaves out.",
  ].join("\n");
}

const directory = mkdtempSync(join(tmpdir(), "runt-peers-"));
chmodSync(directory, 0o755);
try {
  const chosen = CASES.map((one, index) => [one, index] as const).filter(([{ code }]) => !values.only || code === values.only);
  const all = chosen.flatMap(([one, index]) => judge(one, directory, index) ?? []);
  for (const { code, broken, clean } of all)
    console.log(`${code}: ${broken.map((status, index) => (clean[index] === 0 ? status : `(${status})`)).join(" ")}`);
  const table = tableOf(all);
  console.log(table);
  if (values.write) replaceSection("What other runtimes refuse", table);
} finally {
  removeCgroups();
  rmSync(directory, { recursive: true, force: true });
}
