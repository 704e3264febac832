/**
 * What `validate` says of mutants of the sample bundles, and whether they can really be created and started.
 * As root, some minutes: tsx test/findings/matrix.ts [--count N] [--seed N] [--write]. With --write the result goes into docs/findings.md.
 *
 * Every mutant has namespaces around it that nothing gets out of (mount, network, ipc, uts), and a copy of the root filesystem.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sampleConfig } from "../support/config.ts";
import { applyEdits } from "../support/example-host.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";
import { random } from "../support/random.ts";
import { drawEdits } from "./matrix-edits.ts";
import { replaceSection } from "./section.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
  },
});
const COUNT = Number(values.count);
const SAMPLES = ["hello", "shell", "limited", "containerd"];
/** Shares the machine with whoever else is there. */
const AT_ONCE = 2;
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

async function tryOne(directory: string, number: number): Promise<Outcome> {
  const draw = random(Number(values.seed) * 1_000_003 + number);
  const config = sampleConfig(SAMPLES[draw(SAMPLES.length)] ?? "hello");
  config.root.path = "rootfs";
  config.process.args = ["/bin/true"];
  config.process.terminal = false;
  config.linux.cgroupsPath = `${PARENT}/${number}`;
  const edits = drawEdits(config, draw);
  applyEdits(config, edits);
  const place = join(directory, String(number));
  mkdirSync(join(place, "m"), { recursive: true });
  writeFileSync(join(place, "config.json"), JSON.stringify(config));
  const around = ["--mount", "--net", "--ipc", "--uts", "--propagation", "private"];
  const id = `runt-fuzz-${process.pid}-${number}`;
  const command = [...around, "sh", "-c", SCRIPT, "sh", place, sharedRootfs(), join(REPOSITORY, "bin/runt"), id];
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

/** The mutants of one worker are every AT_ONCE-th. */
async function tryAll(directory: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const work = async (first: number) => {
    for (let number = first; number < COUNT; number += AT_ONCE) outcomes.push(await tryOne(directory, number));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => work(first)));
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
  const outcomes = await tryAll(directory);
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
  const table = [
    `${outcomes.length} mutants of the sample bundles (seed ${values.seed}; \`tsx test/findings/matrix.ts\`), each with one to three edits, on this kind of host:`,
    "",
    "| | created and started | refused |",
    "| --- | ---: | ---: |",
    `| \`validate\` found no error | ${count(true, true)} | ${count(true, false)} |`,
    `| \`validate\` found errors | ${count(false, true)} | ${count(false, false)} |`,
    "",
    "Refused without an error of `validate` before:",
    "",
    ...[...reasons].sort(([, a], [, b]) => b - a).map(([reason, times]) => `- ${times} × ${reason.replaceAll("|", "/")}`),
  ].join("\n");
  console.log(table);
  if (values.write) replaceSection("What validate says, and what create does", table);
} finally {
  removeCgroups();
  rmSync(directory, { recursive: true, force: true });
}
