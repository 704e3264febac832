/** What the client says and asks, as it did when this was recorded (test/golden/client-words.json; with RUNT_RENEW=1 it is recorded anew: read the difference). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { VERBS } from "../../src/runtctl/verbs/index.ts";
import { REPOSITORY } from "../support/programs.ts";
import { answering, type Run, type Told, told } from "./answering.ts";
import { routes } from "./client-answers.ts";
import { RUNTCTL } from "./client-programs.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-client-words-"));
afterAll(() => rmSync(directory, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const TASK = "name: web\ncontainers: [{ name: app, rootfs: /r, command: /bin/true }]\n";

const RECORD = join(REPOSITORY, "test/golden/client-words.json");
const isRenewed = process.env["RUNT_RENEW"] === "1";
const recorded = (isRenewed ? {} : JSON.parse(readFileSync(RECORD, "utf8"))) as Record<string, unknown>;
afterAll(() => {
  const sorted = Object.fromEntries(Object.entries(recorded).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (isRenewed) writeFileSync(RECORD, `${JSON.stringify(sorted, null, 1)}\n`);
});

/** Without what differs from run to run: directories, sockets, names that were made up, the version and ages. */
function lasting(text: string): string {
  return text
    .replaceAll(directory, "DIRECTORY")
    .replaceAll(process.cwd(), "HERE")
    .replaceAll(/\/\S*runt-answering-\w+/g, "DIRECTORY")
    .replaceAll(/\brun-\w+-\w+/g, "run-NAME")
    .replaceAll(/\b\d+d\b/g, "AGE")
    .replaceAll(/\d\d:\d\d:\d\d(?= {2})/g, "TIME")
    .replace(/^\d+\.\d+\.\d+$/m, "VERSION");
}

/** Holds what was said, and asked of the daemon, against the record. */
function asRecorded(words: readonly string[], { input }: Run, said: Told, asked: readonly string[] = []): Told {
  const name = lasting(`${words.join(" ")}${input === undefined ? "" : ` < ${input.length} bytes`}`);
  const value = { status: said.status, stdout: lasting(said.stdout), stderr: lasting(said.stderr), asked: asked.map(lasting) };
  if (isRenewed) recorded[name] = value;
  else expect({ name, ...value }).toEqual({ name, ...(recorded[name] as object) });
  return said;
}

async function same(words: readonly string[], options: Run = {}): Promise<Told> {
  return asRecorded(words, options, await told(RUNTCTL, words, options));
}

/** Some at a time: each takes a processor. */
async function each<T>(list: readonly T[], check: (one: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < list.length; at += 4) await Promise.all(list.slice(at, at + 4).map(check));
}

const NONE = ["-s", join(directory, "none")];

test("help, version and completions", async () => {
  for (const words of [["--help"], ["help"]]) expect(await told(RUNTCTL, words)).toMatchObject({ status: 0, stderr: "" });
  await each(VERBS, async ({ name }) => {
    const help = await told(RUNTCTL, [name, "--help"]);
    expect(help).toEqual({ status: 0, stdout: expect.stringContaining(`Usage: runtctl ${name} `), stderr: "" });
    expect(await told(RUNTCTL, ["help", name])).toEqual(help);
  });
  expect((await told(RUNTCTL, ["-g", "a", "get", "--help"])).stdout).toBe((await told(RUNTCTL, ["get", "--help"])).stdout);
  for (const shell of ["bash", "zsh", "fish"]) {
    const { status, stdout } = await told(RUNTCTL, ["completion", shell]);
    expect([status, VERBS.filter(({ name }) => !stdout.includes(name))]).toEqual([0, []]);
  }
  expect((await told(RUNTCTL, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("usage errors", async () => {
  const wrong = [
    ...[["apply"], ["apply", "-f", "x", "--timeout", "1m"], ["apply", "-f", "x", "--wait", "--timeout", "soon"], ["completion", "tcsh"]],
    ...[
      ["run"],
      ["run", "--image", "oci:/x", "-p", "x"],
      ["run", "--image", "oci:/x", "-p", "[::1]:1:2:3"],
      ["run", "--image", "oci:/x", "-e", "UNSET"],
    ],
    ...[
      ["run", "--image", "oci:/x", "-v", "a:b"],
      ["run", "--image", "oci:/x", "--cpus", "-1"],
      ["run", "-d", "-i", "--image", "oci:/x"],
    ],
    ...[
      ["logs", "t", "-n", "x"],
      ["logs", "t", "--since", "then"],
      ["events", "--since", "-1"],
      ["get", "-w", "-o", "json"],
      ["get", "-o", "xml"],
    ],
    ...[["delete"], ["stop", "a", "--all"], ["restart", "-c", "x"], ["images", "prune", "--most", "0"], ["images", "--most", "1"]],
    ...[
      ["interfaces", "attach"],
      ["interfaces", "attach", "a", "--for", "0s"],
      ["interfaces", "list", "a"],
      ["top", "-i", "0"],
      ["exec", "t"],
    ],
    ...[
      ["exec", "t", "-e", "x", "--", "sh"],
      ["port-forward", "t", "x"],
      ["images", "prune", "--unused", "11y"],
    ],
    ...[
      ["login", "--password-stdin"],
      ["login", "--get-login", "-u", "x"],
      ["login", "--authfile", "a", "--credentials", "b"],
      ["logout", "--all", "host.example"],
    ],
  ];
  const ofVerbs = VERBS.flatMap(({ name }) => [
    [name, "--nonsense"],
    [name, "a", "b", "c", "d"],
  ]);
  const global = [["gte"], ["--nonsense"], ["-s"], ["ps"]];
  await each([...global, ...[...ofVerbs, ...wrong].map((words) => [...NONE, ...words])], (words) => same(words));
  for (const words of [[], ["help", "gte"]])
    expect(await told(RUNTCTL, words)).toEqual({ status: 2, stdout: "", stderr: expect.stringContaining("Usage: runtctl ") });
});

test("files that are none, and what comes from the standard input", async () => {
  const apply = (path: string) => [...NONE, "apply", "-f", path];
  await each([join(directory, "absent"), directory, "", "/dev/null/x", file("large.yaml", "#".repeat(5 << 20))], (path) =>
    same(apply(path)),
  );
  await same(apply("-"), { input: "services: { web: 1 }\n" });
  await same(apply("-"), { input: "x".repeat(5 << 20) });
  const compose = file("compose.yaml", "services: { web: { image: 7, nonsense: 1 } }\n");
  expect((await same(apply(compose))).stderr).toContain("compose.yaml:1:");
  expect((await same(["validate", "-f", "-"], { input: `${TASK}nonsense: 1\n` })).stderr).toContain("stdin:3:1");
});

/** Of a daemon that answers. */
async function sameOf(words: readonly string[], options: Run = {}): Promise<Told> {
  const asked: string[] = [];
  const socket = await answering(routes(asked));
  return asRecorded(["with a daemon:", ...words], options, await told(RUNTCTL, ["-s", socket, ...words], options), asked);
}

test("what the daemon answers to each verb", async () => {
  const [good, bad] = [file("good.yaml", TASK), file("bad.yaml", `${TASK}# wrong \u00fc\n`)];
  await each(
    [
      ...[
        ["get"],
        ["get", "-o", "wide"],
        ["get", "-o", "json"],
        ["get", "-o", "yaml"],
        ["get", "-o", "name"],
        ["get", "web"],
        ["get", "web", "-o", "json"],
      ],
      ...[
        ["get", "none"],
        ["get", "none", "-o", "json"],
        ["-g", "other", "get"],
        ["-g", "nobody's & more", "get"],
      ],
      ...[["events"], ["events", "web", "-o", "json"], ["events", "-A", "--since", "2"], ["events", "--since", "5"]],
      ...[
        ["logs", "web", "-c", "app"],
        ["logs", "web"],
        ["logs", "web", "-t", "-n", "5", "--previous"],
        ["logs", "web", "-c", "none"],
        ["logs", "n/o?"],
        ["logs"],
      ],
      ...[["images"], ["images", "-o", "json"], ["images", "prune", "--unused", "1h30m", "--most", "3"], ["images", "prune", "-o", "json"]],
      ...[
        ["interfaces"],
        ["interfaces", "-o", "json"],
        ["interfaces", "attach", "eth7", "--for", "90s"],
        ["interfaces", "detach", "eth7/"],
      ],
      ...[
        ["pull", "oci:/x"],
        ["pull", "-q", "oci:/x", "--policy", "refresh-always"],
        ["plan", "-f", good, "--exit-code"],
        ["plan", "-f", good, "-o", "json"],
      ],
      ...[
        ["apply", "-f", good],
        ["apply", "-f", good, "--prune", "--rerun", "--wait"],
        ["apply", "-f", bad],
        ["apply", "-f", bad, "-p", "shop"],
      ],
      ...[
        ["delete", "web", "--no-wait", "--volumes"],
        ["delete", "--all", "--no-wait"],
        ["delete", "-f", good, "--no-wait"],
        ["stop", "web", "--no-wait"],
      ],
      ...[["restart", "web"], ["restart", "web", "-c", "app", "-c", "b"], ["rollback", "web"], ["rollback", "none"], ["volumes"]],
      ...[
        ["run", "-d", "--name", "web", "--image", "oci:/x"],
        ["run", "--name", "none", "--image", "oci:/x", "--", "wrong"],
      ],
    ],
    (words) => sameOf(words),
  );
  expect((await sameOf(["apply", "-f", "-"], { input: TASK })).stdout).toBe("task web created\n- task old is not in the file\n");
  expect((await sameOf(["logs", "web", "-c", "app"])).stderr).toContain("two, and on \u00e4\n");
});
