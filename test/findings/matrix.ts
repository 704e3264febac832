/**
 * What `validate` says of mutants of the sample bundles, and whether they can really be created and started.
 * As root, some minutes: tsx test/findings/matrix.ts [--clean N] [--seed N] [--jobs N] [--write]. With --write the result goes into docs/findings.md.
 *
 * Mutants are made until so many have no error before the host is looked at: all these are tried, and one of FEW of the others.
 *
 * Every mutant has namespaces around it that nothing gets out of (mount, network, ipc, uts), and a copy of the root filesystem.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sampleConfig } from "../support/config.ts";
import { applyEdits } from "../support/example-host.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";
import { random } from "../support/random.ts";
import { drawEdits } from "./matrix-edits.ts";
import { whyOf, whyWorks } from "./matrix-reasons.ts";
import { replaceSection } from "./section.ts";

const { values } = parseArgs({
  options: {
    clean: { type: "string", default: "3200" },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "2" },
    write: { type: "boolean", default: false },
  },
});
const FEW = 4;
const SAMPLES = ["hello", "shell", "limited", "containerd"];
const RUNT = join(REPOSITORY, "bin/runt");
const PARENT = `/runt-fuzz-${process.pid}`;

/** $1 directory of the mutant, $2 root filesystem, $3 runt, $4 id. */
const SCRIPT = `
mount -t tmpfs -o mode=755 runt-fuzz "$1/m" && cp -ax "$2" "$1/m/rootfs" && mkdir "$1/m/data" && cp "$1/config.json" "$1/m/" && cd "$1/m" || exit 9
timeout 10 "$3" --root "$1/m/state" validate -f json -b "$1/m" > "$1/validate" 2> "$1/validate.err" < /dev/null
timeout 20 "$3" --root "$1/m/state" create -b "$1/m" "$4" > "$1/create" 2>&1 < /dev/null; echo $? > "$1/create.status"
if read -r s < "$1/create.status" && [ "$s" = 0 ]; then
  timeout 20 "$3" --root "$1/m/state" start "$4" > "$1/start" 2>&1 < /dev/null; echo $? > "$1/start.status"
fi
timeout 20 "$3" --root "$1/m/state" delete --force "$4" > /dev/null 2>&1 < /dev/null
exit 0
`;

interface Outcome {
  readonly number: number;
  readonly errors: readonly string[];
  /** Why create or start refused; undefined: they did not. */
  readonly refusal: string | undefined;
  readonly edits: object;
}

interface Mutant {
  readonly number: number;
  readonly text: string;
  readonly edits: object;
}

function mutantOf(number: number): Mutant {
  const draw = random(Number(values.seed) * 1_000_003 + number);
  const config = sampleConfig(SAMPLES[draw(SAMPLES.length)] ?? "hello");
  config.root.path = "rootfs";
  config.process.args = ["/bin/true"];
  config.process.terminal = false;
  config.linux.cgroupsPath = `${PARENT}/${number}`;
  const edits = drawEdits(config, draw);
  applyEdits(config, edits);
  return { number, text: JSON.stringify(config), edits };
}

/** Those to be tried, and how many were made to find them. The same for the same seed. */
function choose(clean: number): { readonly made: number; readonly chosen: readonly Mutant[] } {
  const chosen: Mutant[] = [];
  let [made, found, dirty] = [0, 0, 0];
  for (; found < clean; made++) {
    const mutant = mutantOf(made);
    const { status } = spawnSync(RUNT, ["validate", "--quiet", "--host", "none", "-"], { input: mutant.text, timeout: 20_000 });
    if (status === 0) found++;
    if (status === 0 || dirty++ % FEW === 0) chosen.push(mutant);
  }
  return { made, chosen };
}

async function tryOne(directory: string, { number, text, edits }: Mutant): Promise<Outcome> {
  const place = join(directory, String(number));
  mkdirSync(join(place, "m"), { recursive: true });
  writeFileSync(join(place, "config.json"), text);
  const around = ["--mount", "--net", "--ipc", "--uts", "--propagation", "private"];
  const id = `runt-fuzz-${process.pid}-${number}`;
  const command = [...around, "sh", "-c", SCRIPT, "sh", place, sharedRootfs(), RUNT, id];
  const status = await new Promise<number>((done, failed) => {
    const child = spawn("unshare", command, { stdio: "ignore" });
    child.on("error", failed);
    child.on("exit", (code) => done(code ?? 255));
  });
  const read = (name: string): string => (existsSync(join(place, name)) ? readFileSync(join(place, name), "utf8") : "");
  try {
    if (status !== 0) throw new Error(`mutant ${number} could not be tried: status ${status}`);
    const found = JSON.parse(read("validate")) as { findings: { code: string; severity: string; pointer: string }[] };
    const errors = found.findings.filter(({ severity }) => severity === "error").map(({ code, pointer }) => `${code} ${pointer}`);
    const refused =
      read("create.status").trim() !== "0" ? read("create") : read("start.status").trim() !== "0" ? `start: ${read("start")}` : undefined;
    return { number, errors, refusal: refused?.trim(), edits };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function tryAll(directory: string, mutants: readonly Mutant[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = async () => {
    for (let mutant = mutants[next++]; mutant !== undefined; mutant = mutants[next++]) outcomes.push(await tryOne(directory, mutant));
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  return outcomes.sort((a, b) => a.number - b.number);
}

function removeCgroups(): void {
  for (const hierarchy of ["", ...readdirSync("/sys/fs/cgroup")]) {
    const path = `/sys/fs/cgroup/${hierarchy}${PARENT}`;
    if (!existsSync(path)) continue;
    for (const name of readdirSync(path, { withFileTypes: true })) if (name.isDirectory()) rmdirSync(join(path, name.name));
    rmdirSync(path);
  }
}

const directory = mkdtempSync(join(tmpdir(), "runt-fuzz-"));
try {
  await new Promise((done) => spawn("chmod", ["755", directory]).on("exit", done));
  const { made, chosen } = choose(Number(values.clean));
  const outcomes = await tryAll(directory, chosen);
  const count = (isClean: boolean, works: boolean) =>
    outcomes.filter(({ errors, refusal }) => (errors.length === 0) === isClean && (refusal === undefined) === works).length;
  const missed = outcomes.filter(({ errors, refusal }) => errors.length === 0 && refusal !== undefined);
  const wrong = outcomes.filter(({ errors, refusal }) => errors.length > 0 && refusal === undefined);
  for (const { number, refusal, edits } of missed) console.log(`MISSED ${number} ${JSON.stringify(edits)}\n  ${refusal}`);
  for (const { number, errors, edits } of wrong) console.log(`WRONG ${number} ${JSON.stringify(edits)}\n  ${errors.join("; ")}`);
  const reasons = new Map<string, number>();
  for (const { refusal = "" } of missed) {
    const reason = refusal
      .split("\n", 1)[0]!
      .replace(/^.*error during container init: /, "")
      .replaceAll(/"[^"]*"/g, '"…"')
      .replaceAll(/\d+/g, "N");
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const wrongCodes = new Map<string, number>();
  for (const { errors } of wrong)
    for (const error of errors) {
      const code = error.split(" ", 1)[0] ?? "";
      wrongCodes.set(code, (wrongCodes.get(code) ?? 0) + 1);
    }
  const table = [
    `${made} mutants of the sample bundles (seed ${values.seed}; \`tsx test/findings/matrix.ts\`).`,
    `Each has one to three edits. The test tried every mutant without an error in config.json itself on this kind of host,`,
    `and one of ${FEW} of the others: ${outcomes.length}.`,
    "",
    "| | created and started | refused |",
    "| --- | ---: | ---: |",
    `| \`validate\` found no error | ${count(true, true)} | ${count(true, false)} |`,
    `| \`validate\` found errors | ${count(false, true)} | ${count(false, false)} |`,
    "",
    "Refused by `create`, but without an error of `validate`:",
    "",
    "| times | message | reason |",
    "| ---: | --- | --- |",
    ...[...reasons]
      .sort(([, a], [, b]) => b - a)
      .map(([reason, times]) => `| ${times} | ${reason.replaceAll("|", "/")} | ${whyOf(reason)} |`),
    "",
    "Created and started, but with an error of `validate`:",
    "",
    "| times | code | reason |",
    "| ---: | --- | --- |",
    ...[...wrongCodes].map(([code, times]) => `| ${times} | ${code} | ${whyWorks(code)} |`),
  ].join("\n");
  console.log(table);
  if (values.write) replaceSection("What validate says, and what create does", table);
} finally {
  removeCgroups();
  rmSync(directory, { recursive: true, force: true });
}
