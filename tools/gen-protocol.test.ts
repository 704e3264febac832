/** A name that one language changes in src/shared/protocol and the other one goes on using does not get through the build. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as protocol from "../src/shared/protocol/index.ts";
import type { Protocol } from "./gen-protocol/protocol.ts";
import { writeHeaders } from "./gen-protocol.ts";

type Names = Readonly<Record<string, unknown>>;

/** One key has another name, at the same place. */
function renamed<T extends Names>(names: T, key: string & keyof T): T {
  return Object.fromEntries(Object.entries(names).map(([name, value]) => [name === key ? `other${name}` : name, value])) as T;
}

const { OPS } = protocol;
const hostname = OPS["hostname.set"];

/** What is changed, how, the C file that knows it, and the name that it misses then. */
type Change = readonly [what: string, change: Partial<Protocol>, file: string, missed: string];

/** Those of the helper. */
const CHANGES: readonly Change[] = [
  ["an operation", { OPS: renamed(OPS, "hostname.set") }, "namespace.c", "op_hostname_set"],
  [
    "a field of an operation",
    { OPS: { ...OPS, "hostname.set": { ...hostname, fields: renamed(hostname.fields, "name") } } },
    "namespace.c",
    "name",
  ],
  ["a word of the plan's head", { PLAN_HEAD: renamed(protocol.PLAN_HEAD, "slots") }, "plan.c", "slots"],
  ["a word before an operation", { OPERATION_HEAD: renamed(protocol.OPERATION_HEAD, "index") }, "plan.c", "index"],
  ["a slot", { SLOT: renamed(protocol.SLOT, "FIFO") }, "main.c", "SLOT_FIFO"],
  ["a way to make what is absent", { CREATE: renamed(protocol.CREATE, "likeSource") }, "bind.c", "CREATE_LIKE_SOURCE"],
  ["a message", { MESSAGES: renamed(protocol.MESSAGES, "warning") }, "report.c", "MESSAGE_WARNING"],
  ["a word of a message's head", { MESSAGE_HEAD: renamed(protocol.MESSAGE_HEAD, "type") }, "report.c", "type"],
  ["a word of the shared page", { PAGE_WORD: renamed(protocol.PAGE_WORD, "cgroups") }, "cgroup.c", "PAGE_CGROUPS"],
  ["a word of the trace area", { TRACE_HEAD: renamed(protocol.TRACE_HEAD, "cloned") }, "trace.c", "cloned"],
  ["a time of the trace area", { TRACE_ENTRY: renamed(protocol.TRACE_ENTRY, "end") }, "trace.c", "end"],
  ["an option of the monitor", { MONITOR_OPTIONS: renamed(protocol.MONITOR_OPTIONS, "notify-host") }, "monitor.c", "notify_host"],
  ["what the monitor removes", { MONITOR_STEP: renamed(protocol.MONITOR_STEP, "tryRmdir") }, "cleanup.c", "MONITOR_TRY_RMDIR"],
  ["a field of the exit record", { EXIT_FIELD: renamed(protocol.EXIT_FIELD, "oomKills") }, "monitor_record.c", "EXIT_FIELD_OOM_KILLS"],
  ["a phase of the exit record", { EXIT_PHASE: renamed(protocol.EXIT_PHASE, "ended") }, "monitor_record.c", "EXIT_PHASE_ENDED"],
  ["a file system that is made early", { PREPARED: renamed(protocol.PREPARED, "shm") }, "prepare.c", "PREPARED_SHM"],
];

/** Those of the program. */
const PROGRAM_CHANGES: readonly Change[] = [
  ["a member of the state's summary", { STATE_SUMMARY: renamed(protocol.STATE_SUMMARY, "owner") }, "twins/containers.c", "SUMMARY_OWNER"],
  ["a place in the image", { IMAGE_PLACE: renamed(protocol.IMAGE_PLACE, "evaluated") }, "program/modules.c", "IMAGE_EVALUATED"],
  ["a word of an embedded row", { EMBEDDED_ROW: renamed(protocol.EMBEDDED_ROW, "place") }, "program/modules.c", "place"],
  ["a message's head, for the runtime", { MESSAGE_HEAD: renamed(protocol.MESSAGE_HEAD, "textLength") }, "host/rendezvous.c", "text_length"],
];
/** Where the build has put what the program is compiled with. */
const QUICKJS = "build/quickjs/include";

describe("C", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "runt-protocol-"));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  function compile(name: string, of: Protocol, file: string, flags: readonly string[]): string {
    const headers = join(directory, name);
    writeHeaders(join(headers, "protocol"), of);
    return spawnSync("gcc", ["-Wall", "-Wextra", "-fsyntax-only", `-I${headers}`, ...flags, `native-bindings/${file}`], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" },
    }).stderr;
  }
  const helper = (name: string, of: Protocol, file: string) => compile(name, of, `init/${file}`, ["-std=c11", "-Inative-bindings/init"]);
  const program = (name: string, of: Protocol, file: string) =>
    compile(name, of, file, ["-std=gnu17", "-D_GNU_SOURCE", "-isystem", QUICKJS]);
  const files = (changes: readonly Change[]) => [...new Set(changes.map(([, , file]) => file))];

  test.each(files(CHANGES))("%s compiles with what there is", (file) => {
    expect(helper("same", protocol, file)).toBe("");
  });

  test.each(CHANGES)("the helper does not compile when %s has another name", (_what, change, file, missed) => {
    expect(helper("changed", { ...protocol, ...change }, file)).toMatch(new RegExp(`error: .*['\\W]${missed}\\b`));
  });

  describe.skipIf(!existsSync(QUICKJS))("of the program (skipped without a build of QuickJS)", () => {
    test.each(files(PROGRAM_CHANGES))("%s compiles with what there is", (file) => {
      expect(program("same", protocol, file)).toBe("");
    });

    test.each(PROGRAM_CHANGES)("does not compile when %s has another name", (_what, change, file, missed) => {
      expect(program("changed", { ...protocol, ...change }, file)).toMatch(new RegExp(`error: .*['\\W]${missed}\\b`));
    });
  });
});

/** A contract's file, the name in it that is changed, and who uses it. */
const USES: readonly (readonly [contract: string, name: string, user: string])[] = [
  ["operations/mounts.ts", '"mount.open":', "src/runtime/plan/compile/sources.ts"],
  ["messages.ts", "  cgroup:", "src/runtime/plan/compile/cgroups.ts"],
  ["plan.ts", "operations:", "src/runtime/plan/wire.ts"],
  ["page.ts", "  cgroups:", "src/runtime/execute/progress.ts"],
  ["page.ts", "  cloned:", "src/runtime/trace/helper.ts"],
  ["monitor.ts", "  executable:", "src/runtime/execute/monitor.ts"],
  ["exit-record.ts", "startedMs?:", "src/runtime/execute/exit-record.ts"],
  ["prepared.ts", "  mqueue:", "src/runtime/execute/head-start/hint.ts"],
];

describe("the runtime in TypeScript", () => {
  /** The problems that the compiler finds in these files, with those names changed. */
  function check(): ReadonlyMap<string, readonly string[]> {
    const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile("tsconfig.json", ts.sys.readFile).config, ts.sys, ".");
    const host = ts.createCompilerHost({ ...options, incremental: false });
    const { getSourceFile } = host;
    host.getSourceFile = (path, target, ...rest) => {
      const names = USES.flatMap(([contract, name]) => (resolve(path) === resolve("src/shared/protocol", contract) ? [name] : []));
      if (names.length === 0) return getSourceFile(path, target, ...rest);
      let text = readFileSync(path, "utf8");
      for (const name of names) {
        expect(text).toContain(name);
        text = text.replace(name, name.replace(/\w/, "other$&"));
      }
      return ts.createSourceFile(path, text, target);
    };
    const users = USES.map(([, , user]) => user);
    const { tsBuildInfoFile: _, ...checked } = options;
    const program = ts.createProgram([...users, "native-bindings/host/host.d.ts"], { ...checked, incremental: false }, host);
    return new Map(
      users.map((user) => [
        user,
        program
          .getSemanticDiagnostics(program.getSourceFile(user))
          .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " ")),
      ]),
    );
  }

  test("does not compile when names are changed", () => {
    const problems = check();
    for (const [, name, user] of USES) expect(problems.get(user)?.join("\n"), user).toContain(/[\w.]+/.exec(name)?.[0]);
  });
});
