import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { deriveConfig } from "../../src/runtime/config/index.ts";
import { type CompileHost, compile, type Invocation, type Op } from "../../src/runtime/plan/index.ts";
import { parseSpec } from "../../src/runtime/spec/index.ts";

const HOST: CompileHost = { stateDirectory: "/run/runt/c", rootless: false, cgroupVersion: 2, cgroupSources: [] };
const INVOCATION: Invocation = { id: "c", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0 };
const config = deriveConfig(parseSpec(readFileSync("bundles/hello/config.json", "utf8"), true), { bundle: "/bundles/hello" });

function ops(invocation: Partial<Invocation>): readonly Op[] {
  return compile({ config, host: HOST, invocation: { ...INVOCATION, ...invocation } }).ops;
}
const names = (list: readonly Op[]) => list.map(({ op }) => op);

describe("a caller with NOTIFY_SOCKET", () => {
  const notifySocket = "/run/systemd/notify";

  it.each([
    ["create", false],
    ["run", true],
  ] as const)("%s prepares the socket's directory before the helper starts; only run listens itself", (mode, listen) => {
    const list = ops({ notifySocket, mode });
    const prepare = list.find(({ op }) => op === "notify.prepare");
    expect(prepare?.args).toEqual({ directory: "/run/runt/c/notify", listen, host: notifySocket });
    expect(names(list).indexOf("notify.prepare")).toBeGreaterThan(names(list).indexOf("state.intent"));
    expect(names(list).indexOf("notify.prepare")).toBeLessThan(names(list).indexOf("helper.spawn"));
  });

  it("gets it mounted last, so that nothing of the configuration covers it", () => {
    const list = ops({ notifySocket });
    const binds = list.filter((op): op is Op<"mount.bind"> => op.op === "mount.bind");
    expect(binds.at(-1)).toMatchObject({ from: "", args: { target: "/run/notify", attrSet: 15n } });
  });

  it("and its address in the environment, whatever the configuration says", () => {
    const own = { ...config, process: { ...config.process!, env: ["NOTIFY_SOCKET=/own", "A=1"] } };
    const { ops: list } = compile({ config: own, host: HOST, invocation: { ...INVOCATION, notifySocket } });
    const exec = list.find((op): op is Op<"process.exec"> => op.op === "process.exec");
    expect(exec?.args.env).toEqual(["A=1", "NOTIFY_SOCKET=/run/notify/notify.sock"]);
  });

  it("without one nothing of it is there", () => {
    expect(names(ops({}))).not.toContain("notify.prepare");
  });
});

describe("--pidfd-socket", () => {
  it("sends once the container exists, and before init may go on", () => {
    const list = names(ops({ pidfdSocket: "/run/pidfd" }));
    expect(list.indexOf("pidfd.send")).toBeGreaterThan(list.indexOf("state.commit"));
    expect(list.indexOf("pidfd.send")).toBeLessThan(list.lastIndexOf("sync.send"));
    expect(names(ops({}))).not.toContain("pidfd.send");
  });
});
