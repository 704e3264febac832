import { describe, expect, it } from "vitest";
import type { ProcessConfig } from "../../src/config/types.ts";
import { defaultProcess, execRecord } from "../../src/container/exec-defaults.ts";
import { type ExecRequest, parseUser, requestedProcess, withCapabilities } from "../../src/container/exec-request.ts";

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

const requested = (request: Partial<ExecRequest>) => requestedProcess({ ...REQUEST, ...request }, () => DEFAULTS);

describe("the process of exec", () => {
  it("is the container's own, without its terminal", () => {
    expect(requested({})).toEqual({ ...DEFAULTS, terminal: false, args: ["true"] });
  });

  it("is changed by flags", () => {
    const changed = requested({ env: ["A=2", "B=3"], cwd: "/", user: "1:2", additionalGids: ["10"], terminal: true, args: ["a", "b"] });
    expect(changed).toMatchObject({ env: ["PATH=/bin", "A=2", "B=3"], cwd: "/", uid: 1, gid: 2, additionalGids: [9, 10], terminal: true });
  });

  it.each([
    [{ args: [] }, "process args cannot be empty"],
    [{ args: [""] }, "process args cannot be empty"],
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
    const record = execRecord({ process: DEFAULTS, namespaces } as never, true);
    expect(defaultProcess(JSON.parse(JSON.stringify(record)))).toEqual({ ...DEFAULTS, args: [] });
    expect(record).toMatchObject({ namespaces: ["pid", "mount"], chroot: false, keyring: true });
  });
});
