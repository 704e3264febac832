import { describe, expect, it } from "vitest";
import { examine } from "./examine.ts";

const MOUNT = { destination: "/tmp", type: "tmpfs", source: "tmpfs" };
const CONFIG = {
  ociVersion: "1.3.0",
  root: { path: "rootfs" },
  process: { cwd: "/", args: ["/bin/sh"], env: ["PATH=/bin"] },
  mounts: [{ destination: "/proc", type: "proc" }, MOUNT],
  linux: { namespaces: [{ type: "mount" }, { type: "pid" }] },
};
const codes = (config: unknown) => examine(JSON.stringify(config)).findings.map(({ code, pointer }) => `${code} ${pointer}`);

describe("examine", () => {
  it("finds nothing in a clean configuration", () => expect(codes(CONFIG)).toEqual([]));

  it("finds what else is wrong when the structure is broken", () => {
    const config = { ...CONFIG, mounts: [...CONFIG.mounts, { destination: 1 }, { ...MOUNT, destination: "" }], hostname: "web" };
    expect(codes(config)).toEqual([
      "field-type /mounts/2/destination",
      "hostname-shared /hostname",
      "mount-destination-empty /mounts/3/destination",
    ]);
  });

  it("looks at destinations below the host's path of the root as at the container's", () => {
    const below = (destination: string) => JSON.stringify({ ...CONFIG, mounts: [...CONFIG.mounts, { ...MOUNT, destination }] });
    const found = (path: string) => examine(below(path), {}, "/b").findings.map(({ code, severity }) => `${severity} ${code}`);
    expect(found("/b/rootfs/x")).toEqual(["warning mount-destination-host"]);
    expect(found("/b/rootfs/proc/sys")).toEqual(["warning mount-destination-host", "error mount-inside-proc"]);
    expect(found("/b/rootfs")).toEqual(["warning mount-destination-host", "error mount-on-root"]);
    expect(examine(below("/b/rootfs/x")).findings).toEqual([]);
  });

  it("says of pagesize that it is taken", () => {
    const limits = (entry: object) => codes({ ...CONFIG, linux: { ...CONFIG.linux, resources: { hugepageLimits: [entry] } } });
    expect(limits({ pagesize: "2MB", limit: 0 })).toEqual(["field-case-taken /linux/resources/hugepageLimits/0/pagesize"]);
    expect(limits({ pageSize: "2MB", pagesize: "1GB", limit: 0 })).toEqual(["field-case /linux/resources/hugepageLimits/0/pagesize"]);
  });

  it("leaves out what only a broken part could tell", () => {
    // The broken namespace may be the UTS namespace, the broken mount that of /proc.
    expect(codes({ ...CONFIG, hostname: "web", linux: { namespaces: [...CONFIG.linux.namespaces, { type: 7 }] } })).toEqual([
      "field-type /linux/namespaces/2/type",
    ]);
    expect(codes({ ...CONFIG, mounts: [{ destination: "/proc", type: 1 }, MOUNT] })).toEqual(["field-type /mounts/0/type"]);
    expect(codes({ ...CONFIG, process: { args: ["/bin/sh"] } })).toEqual(["field-missing /process/cwd"]);
  });

  it.each([
    "",
    " ",
    "null",
    "1",
    "[]",
    '"x"',
    "{}",
    '{"linux":null}',
    '{"process":{"capabilities":[1]}}',
    '{"mounts":[null,{}]}',
    "{",
    '{"a":',
  ])("survives %j", (text) => expect(examine(text).findings.length).toBeGreaterThan(0));

  it("names the place of a syntax error", () => {
    const { findings, places } = examine('{\n  "a": tru }');
    expect(findings).toEqual([{ code: "config-syntax", severity: "error", pointer: "", message: 'expected a value, found "t"' }]);
    expect(places.find([""])).toEqual([9]);
  });

  it("keeps 64 bits exactly", () => {
    const text = JSON.stringify({ ...CONFIG, linux: { ...CONFIG.linux, resources: { memory: { limit: 0 } } } });
    const limit = (digits: string) => examine(text.replace('"limit":0', `"limit":${digits}`)).findings.map(({ message }) => message);
    expect(limit("9223372036854775807")).toEqual([
      "memory.limit: 9223372036854775807 is no multiple of the page size, the kernel makes it 9223372036854771712",
    ]);
    expect(limit("9223372036854775808")).toEqual(["expected a signed 64-bit integer, found 9223372036854775808"]);
    expect(limit("9223372036854771712")).toEqual([]);
  });

  it("takes capabilities as a plain list, and says where one is wrong", () => {
    const list = (capabilities: unknown) => codes({ ...CONFIG, process: { ...CONFIG.process, capabilities } });
    expect(list(["CAP_KILL"])).toEqual(["capabilities-list /process/capabilities"]);
    expect(list(["CAP_KILL", 1])).toEqual(["capabilities-list /process/capabilities", "field-type /process/capabilities/1"]);
    expect(list("CAP_KILL")).toEqual(["field-type /process/capabilities"]);
  });

  it("takes entries of env with several =", () =>
    expect(codes({ ...CONFIG, process: { ...CONFIG.process, env: ["PATH=/bin", "A=b=c=d", "B==", "C="] } })).toEqual([]));
});
