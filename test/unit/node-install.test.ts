/** packaging/kubernetes: the script of the DaemonSets on a directory that stands for a node, with the tools of their image, and a systemctl that says what it is told. */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";

const SCRIPT = join(REPOSITORY, "packaging/kubernetes/node.sh");
const CONFIG = "etc/containerd/config.toml";
const CRIO = "etc/crio/crio.conf.d/60-runt.conf";
const PROGRAM = "opt/runt/bin/runt";
const TWO = `version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\nSystemdCgroup = true\n`;
const hasContainerd = spawnSync("containerd", ["--version"]).status === 0;

describe("the installer for nodes of Kubernetes", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-node-"));
  const applets = join(directory, "bin");
  const source = join(directory, "source");
  let count = 0;
  /** What kubelet says of its health. */
  let health = 200;
  const kubelet = createServer((_, answer) => void answer.writeHead(health).end("text"));
  afterAll(() => {
    kubelet.close();
    rmSync(directory, { recursive: true });
  });
  beforeAll(async () => {
    await new Promise<void>((done) => kubelet.listen(0, "127.0.0.1", done));
    mkdirSync(applets);
    execFileSync("/bin/busybox", ["--install", "-s", applets]);
    mkdirSync(source);
    writeFileSync(join(source, "runt"), "the program");
    for (const [name, text] of [
      ["containerd", "echo containerd $VERSION"],
      ["systemctl", 'echo "$*" >>"$CALLS"; [ "$1" = restart ] || ! grep -qs bin/runt $BROKEN_WITH'],
    ]) {
      rmSync(join(applets, name!), { force: true });
      writeFileSync(join(applets, name!), `#!${applets}/sh\n${text}\n`, { mode: 0o755 });
    }
  });

  interface Node {
    readonly root: string;
    readonly at: (path: string) => string;
    readonly read: (path: string) => string;
    readonly calls: () => string[];
    readonly run: (verb: string, env?: Readonly<Record<string, string>>) => Promise<{ readonly status: number; readonly said: string }>;
  }

  function node(files: Readonly<Record<string, string>>): Node {
    const root = join(directory, `node-${count++}`);
    const at = (path: string) => join(root, path);
    const calls = `${root}.calls`;
    mkdirSync(root);
    writeFileSync(calls, "");
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    }
    const run: Node["run"] = (verb, more = {}) => {
      const env = {
        ...{ PATH: applets, HOST: root, SOURCE: source, ON_NODE: "env", READY_SECONDS: "1", SETTLE_SECONDS: "0", CALLS: calls },
        ...{
          BROKEN_WITH: "/dev/null",
          KUBELET_PORT: String((kubelet.address() as AddressInfo).port),
          VERSION: "1.6.20",
          TMPDIR: directory,
          ...more,
        },
      };
      return new Promise((resolve) => {
        const child = execFile(join(applets, "sh"), [SCRIPT, verb], { env }, (_, __, said) =>
          resolve({ status: child.exitCode ?? -1, said }),
        );
      });
    };
    const lines = () => readFileSync(calls, "utf8").split("\n").slice(0, -1);
    return { root, at, read: (path) => readFileSync(at(path), "utf8"), calls: lines, run };
  }
  const restarts = ({ calls }: Node) => calls().filter((line) => line.startsWith("restart ")).length;
  const below = (root: string) => readdirSync(root, { recursive: true, encoding: "utf8" }).sort();

  test("containerd 1.x: the handler is named beside runc's, with its cgroup driver, and removal gives the same bytes back", async () => {
    const one = node({ [CONFIG]: TWO });
    chmodSync(one.at(CONFIG), 0o600);
    expect(await one.run("install")).toMatchObject({ status: 0, said: "runt-node: installed for containerd\n" });
    expect(one.read(CONFIG)).toBe(
      `${TWO}# runt: begin\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runt]\nruntime_type = "io.containerd.runc.v2"\n` +
        `[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runt.options]\nBinaryName = "/opt/runt/bin/runt"\nSystemdCgroup = true\n# runt: end\n`,
    );
    expect([statSync(one.at(CONFIG)).mode & 0o777, statSync(one.at(PROGRAM)).mode & 0o777]).toEqual([0o600, 0o755]);
    expect(one.read(PROGRAM)).toBe("the program");
    expect(restarts(one)).toBe(1);
    expect(await one.run("install")).toMatchObject({ status: 0 });
    expect(restarts(one)).toBe(1);
    if (hasContainerd) {
      const dump = execFileSync("containerd", ["--config", one.at(CONFIG), "config", "dump"], { encoding: "utf8" });
      expect(dump).toMatch(
        /runtimes\.runt\.options\]\n(?: +\w.*\n)* +BinaryName = "\/opt\/runt\/bin\/runt"\n(?: +\w.*\n)* +SystemdCgroup = true/,
      );
    }
    expect(await one.run("remove")).toMatchObject({ status: 0 });
    expect(one.read(CONFIG)).toBe(TWO);
    expect(existsSync(one.at("opt/runt"))).toBe(false);
    expect(below(one.at("etc"))).toEqual(["containerd", "containerd/config.toml"]);
  });

  test.each([
    ["1.6.20", 2, "io.containerd.grpc.v1.cri"],
    ["v2.1.4", 3, "io.containerd.cri.v1.runtime"],
  ])("containerd %s without a configuration gets one of version %s, which removal takes away", async (version, format, plugin) => {
    const one = node({});
    mkdirSync(one.at("etc/containerd"), { recursive: true });
    expect((await one.run("install", { VERSION: version })).status).toBe(0);
    expect(one.read(CONFIG)).toContain(`\nversion = ${format}\n# runt: begin\n[plugins."${plugin}".containerd.runtimes.runt]\n`);
    expect((await one.run("remove")).status).toBe(0);
    expect(below(one.root)).toEqual(["etc", "etc/containerd", "opt"]);
    expect(restarts(one)).toBe(2);
  });

  test("CRI-O gets a file of its own", async () => {
    const one = node({ "etc/crio/crio.conf": "[crio]\n" });
    expect(await one.run("install")).toMatchObject({ status: 0, said: "runt-node: installed for crio\n" });
    expect(one.read(CRIO)).toContain('[crio.runtime.runtimes.runt]\nruntime_path = "/opt/runt/bin/runt"\n');
    expect(one.calls()[0]).toBe("restart crio");
    expect((await one.run("remove")).status).toBe(0);
    expect(existsSync(one.at(CRIO))).toBe(false);
  });

  test.each([
    ["containerd", { [CONFIG]: TWO }, CONFIG],
    ["crio", { "etc/crio/crio.conf": "[crio]\n" }, CRIO],
  ])("a node of %s that is not ready again gets its configuration back", async (_, files, path) => {
    const one = node(files as Record<string, string>);
    const before = existsSync(one.at(path)) ? one.read(path) : undefined;
    const { status, said } = await one.run("install", { BROKEN_WITH: one.at(path) });
    expect({ status, said }).toEqual({ status: 1, said: expect.stringContaining(`/${path} is put back`) });
    expect(existsSync(one.at(path)) ? one.read(path) : undefined).toBe(before);
    expect(restarts(one)).toBe(2);
  });

  test.each([
    [
      "a handler of the operator's",
      { [CONFIG]: `${TWO}[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runt]\n` },
      /has a handler runt of its own/,
    ],
    ["a format that it does not know", { [CONFIG]: "version = 1\n" }, /has no version 2 or 3/],
    ["two engines", { [CONFIG]: TWO, "etc/crio/crio.conf": "" }, /has both/],
    ["no engine", {}, /has neither/],
    ["a handler in another file of CRI-O", { "etc/crio/crio.conf.d/1.conf": "[crio.runtime.runtimes.runt]\n" }, /1\.conf has a handler/],
  ])("%s is refused, and the configuration stays as it is", async (_, files, said) => {
    const one = node(files as Record<string, string>);
    expect(await one.run("install")).toEqual({ status: 3, said: expect.stringMatching(said) });
    for (const [path, text] of Object.entries(files)) expect(one.read(path)).toBe(text);
    expect(one.calls()).toEqual([]);
  });

  test.each([PROGRAM, "opt/runt", CONFIG])("a link in the place of %s is refused", async (path) => {
    const one = node({ [CONFIG]: TWO });
    const elsewhere = `${one.root}.elsewhere`;
    writeFileSync(elsewhere, TWO);
    mkdirSync(dirname(one.at(path)), { recursive: true });
    rmSync(one.at(path), { force: true });
    symlinkSync(elsewhere, one.at(path));
    expect(await one.run("install")).toEqual({ status: 3, said: `runt-node: refused: /${path} is a symbolic link\n` });
    expect(readFileSync(elsewhere, "utf8")).toBe(TWO);
  });

  test("kubelet must say that it is healthy", async () => {
    const one = node({ [CONFIG]: TWO });
    health = 500;
    expect((await one.run("install")).status).toBe(1);
    health = 200;
    expect(one.read(CONFIG)).toBe(TWO);
    expect((await one.run("install")).status).toBe(0);
  });

  test("removal is refused while a container of runt is there, which is named, and not by one of runc", async () => {
    const shim = (id: string) => `run/containerd/io.containerd.runtime.v2.task/k8s.io/${id}/options.json`;
    const one = node({
      [CONFIG]: TWO,
      [shim("web")]: '{"binary_name":"/opt/runt/bin/runt"}',
      [shim("other")]: '{"binary_name":"/usr/bin/runc"}',
    });
    expect((await one.run("install")).status).toBe(0);
    expect(await one.run("remove")).toEqual({ status: 3, said: "runt-node: refused: containers of runt are on this node: web\n" });
    expect(existsSync(one.at(PROGRAM))).toBe(true);
    rmSync(one.at(shim("web")));
    expect((await one.run("remove")).status).toBe(0);
    expect(one.read(CONFIG)).toBe(TWO);
  });

  test.each(["install", "remove"])("%s.yaml is read by runtctl validate, but for what only a cluster has", async (name) => {
    const file = join(REPOSITORY, `packaging/kubernetes/${name}.yaml`);
    const { status, stderr } = spawnSync(join(REPOSITORY, "bin/runtctl"), ["validate", "-f", file, "--ignore-cluster-fields"], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(readFileSync(file, "utf8")).toContain(`args: [${name}]`);
  });
});
