import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ProcessConfig } from "../../src/runtime/config/types.ts";
import { execRecord } from "../../src/runtime/execute/commit.ts";
import { defaultProcess, type ExecRequest, parseUser, requestedProcess, withCapabilities } from "../../src/runtime/prepare/exec-request.ts";

const REQUEST: ExecRequest = {
  id: "c",
  args: ["true"],
  env: [],
  additionalGids: [],
  capabilities: [],
  cgroups: [],
  noNewPrivileges: false,
  terminal: false,
  detach: false,
  preserveFds: 0,
  ignorePaused: false,
};

const DEFAULTS: ProcessConfig = {
  terminal: true,
  consoleRows: 0,
  consoleColumns: 0,
  args: ["init"],
  env: ["PATH=/bin", "A=1"],
  cwd: "/work",
  uid: 7,
  gid: 8,
  additionalGids: [9],
  umask: 0o27,
  noNewPrivileges: true,
  capabilities: { bounding: 0x21n, effective: 1n, permitted: 1n, inheritable: 0n, ambient: 0n },
  rlimits: [{ type: "RLIMIT_CORE", soft: 0n, hard: 0xffff_ffff_ffff_ffffn, from: "/process/rlimits/0" }],
};

const requested = (request: Partial<ExecRequest>) => requestedProcess({ ...REQUEST, ...request }, () => DEFAULTS, []);

describe("the process of exec", () => {
  it("is the container's own, without its terminal", () => {
    expect(requested({})).toEqual({ ...DEFAULTS, terminal: false, args: ["true"] });
  });

  it("is changed by flags", () => {
    const changed = requested({ env: ["A=2", "B=3"], cwd: "/", user: "1:2", additionalGids: ["10"], terminal: true, args: ["a", "b"] });
    expect(changed).toMatchObject({ env: ["PATH=/bin", "A=2", "B=3"], cwd: "/", uid: 1, gid: 2, additionalGids: [9, 10], terminal: true });
  });

  describe("from a document", () => {
    const directory = mkdtempSync(join(tmpdir(), "runt-process-"));
    afterAll(() => rmSync(directory, { recursive: true }));
    function document(content: object, defaults: ProcessConfig = DEFAULTS): ProcessConfig {
      const processFile = join(directory, "process.json");
      writeFileSync(processFile, JSON.stringify({ args: ["true"], cwd: "/", ...content }));
      return requestedProcess({ ...REQUEST, processFile }, () => defaults, []);
    }
    const POLICIES = {
      scheduler: { policy: 5, flags: 0, nice: 0, priority: 0, runtime: 0n, deadline: 0n, period: 0n },
      ioPriority: { class: 3, priority: 7 },
      execAffinity: { initial: [0], final: [] },
      apparmorProfile: "unconfined",
    };

    it("has what it does not name from the container, where runc does too", () => {
      const { capabilities, rlimits } = DEFAULTS;
      const process = document({}, { ...DEFAULTS, ...POLICIES });
      expect(process).toMatchObject({ capabilities, rlimits, ...POLICIES });
      expect(process).toMatchObject({ env: [], cwd: "/", uid: 0, gid: 0, additionalGids: [], noNewPrivileges: false, umask: 0o22 });
    });

    it("has what it names", () => {
      const process = document(
        {
          capabilities: {},
          rlimits: [{ type: "RLIMIT_CORE", soft: 1, hard: 1 }],
          scheduler: { policy: "SCHED_OTHER", nice: 3 },
          ioPriority: { class: "IOPRIO_CLASS_BE", priority: 1 },
          execCPUAffinity: { final: "0" },
        },
        { ...DEFAULTS, ...POLICIES },
      );
      expect(process).toMatchObject({
        capabilities: { bounding: 0n, permitted: 0n },
        rlimits: [{ soft: 1n, hard: 1n }],
        scheduler: { policy: 0, nice: 3 },
        ioPriority: { class: 2, priority: 1 },
        execAffinity: { initial: [], final: [0] },
      });
    });

    it.each([
      [{ scheduler: { policy: "SCHED_FIFO" } }, "/process/scheduler/priority"],
      [{ ioPriority: { class: "IOPRIO_CLASS_BE", priority: 8 } }, "/process/ioPriority/priority"],
      [{ user: { uid: 4294967295 } }, "/process/user/uid"],
    ])("%j is refused", (content, pointer) => {
      expect(() => document(content)).toThrow(
        expect.objectContaining({ code: "config-invalid", details: expect.objectContaining({ pointer }) }),
      );
    });
  });

  it.each([
    [{ args: [] }, "process args cannot be empty"],
    [{ args: [""] }, 'exec: "": executable file not found in $PATH'],
    [{ cwd: "relative" }, '--cwd: "relative" is not an absolute path'],
    [{ env: ["NOVALUE"] }, 'invalid environment variable: "NOVALUE" has no "="'],
    [{ additionalGids: ["wheel"] }, '--additional-gids: "wheel" is not a numeric id'],
    [{ capabilities: ["CAP_FLY"] }, '--cap: unknown capability "CAP_FLY"'],
  ])("%j is refused", (request, message) => {
    expect(() => requested(request)).toThrow(message);
  });
});

describe("--user", () => {
  it.each([
    ["0", 0, 100],
    ["1", 1, 100],
    ["1000", 1000, 100],
    ["1:0", 1, 0],
    ["1:1", 1, 1],
    ["0:1", 0, 1],
    ["4294967294:65534", 4294967294, 65534],
  ])("%s", (text, uid, gid) => {
    expect(parseUser(text, 100)).toEqual({ uid, gid });
  });

  it.each(["", ":", "1:", ":1", "root", "root:root", "-1", "1:2:3", "0x1", "1.5", " 1", "1 ", "4294967295", "99999999999"])(
    "%j is refused",
    (text) => {
      expect(() => parseUser(text, 100)).toThrow("is not a numeric id");
    },
  );
});

describe("--cap", () => {
  it("is never inheritable, and ambient only where it was inheritable", () => {
    const sets = { bounding: 1n, effective: 1n, permitted: 1n, inheritable: 2n, ambient: 0n };
    expect(withCapabilities(sets, ["CAP_DAC_OVERRIDE", "kill"])).toEqual({
      bounding: 0x23n,
      effective: 0x23n,
      permitted: 0x23n,
      inheritable: 2n,
      ambient: 2n,
    });
    expect(withCapabilities(undefined, ["CAP_CHOWN"])).toEqual({
      bounding: 1n,
      effective: 1n,
      permitted: 1n,
      inheritable: 0n,
      ambient: 0n,
    });
  });
});

describe("the record", () => {
  it("keeps what exec needs, exactly, through JSON", () => {
    const namespaces = [
      { type: "pid", from: "" },
      { type: "mount", from: "" },
    ] as const;
    const scheduler = { policy: 6, flags: 1, nice: 0, priority: 0, runtime: 1024n, deadline: 2n ** 63n - 1n, period: 0n };
    const process = { ...DEFAULTS, scheduler, ioPriority: { class: 1, priority: 2 }, execAffinity: { initial: [], final: [3] } };
    const memoryPolicy = { mode: 3, flags: 0, nodes: [0] };
    const record = JSON.parse(JSON.stringify(execRecord({ process, namespaces, memoryPolicy, personality: 0 } as never, true)));
    expect(defaultProcess(record)).toEqual({ ...process, args: [] });
    expect(record).toMatchObject({ memoryPolicy, personality: 0, namespaces: ["pid", "mount"], chroot: false, keyring: true });
  });
});
