/**
 * Boxes with a way out. Each test has a network of its own: the pool's owner in one namespace, "the Internet" in another, and nothing else. Its processes end with its first one.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { outboundOf } from "../../src/executor/pool/outbound/network.ts";
import { program, REPOSITORY } from "../support/programs.ts";
import { isRoot, RUNT, textOf, useExecutors } from "./support.ts";

const hasPasta = (process.env["PATH"] ?? "").split(delimiter).some((directory) => existsSync(join(directory, "pasta")));
/** On the Internet: a public address, and what must not be reached although the network would carry it. */
const OUTSIDE = "30.0.0.1";
const WALLED = [
  "169.254.169.254",
  "10.1.0.1",
  "10.2.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "203.0.113.1",
  "255.255.255.255",
];
/** Of the host: its interface, one that is down, an address that only a route of the type local gives it, loopback, and any. */
const OWN = ["20.0.0.2", "21.0.0.1", "22.0.0.9", "127.0.0.1", "0.0.0.0", "192.0.0.1", "192.0.0.3"];

test("what is not a private range is refused by name as one that is to be reached", () => {
  expect(outboundOf("none")).toBeUndefined();
  expect(outboundOf({ outbound: { private: ["10.1.0.0/16", "192.168.7.9"] } })).toEqual({ private: ["10.1.0.0/16", "192.168.7.9"] });
  for (const range of [
    "169.254.169.254",
    "127.0.0.0/8",
    "8.8.8.8",
    "0.0.0.0/0",
    "10.0.0.0/7",
    "10.1.0.1/16",
    "fd00::/8",
    "x",
    "10.0.0.0/8/8",
    1,
  ])
    expect(() => outboundOf({ outbound: { private: [range] } }), String(range)).toThrow(/^network: outbound.private: /);
  for (const network of ["host", null, {}, { outbound: true }, { outbound: {}, more: 1 }, { outbound: { allow: [] } }])
    expect(() => outboundOf(network), JSON.stringify(network)).toThrow(/^network: /);
});

describe.skipIf(!isRoot || !hasPasta)("boxes with a way out (needs root and pasta)", { concurrent: true }, () => {
  const { directory, rootfs } = useExecutors();
  let count = 0;

  /** What scripts say, one after the other, in a network of their own. `Pool`, `open`, `say`, `dial`, `pastas` and `until` are there. */
  async function inNetwork(...scripts: readonly string[]): Promise<unknown[]> {
    const own = join(directory, `network-${++count}`);
    const root = join(own, "rootfs");
    mkdirSync(own);
    chmodSync(own, 0o711);
    const files = scripts.map((script, at) => {
      const file = join(own, `script-${at}.mts`);
      writeFileSync(file, PRELUDE({ own, root }) + script);
      return file;
    });
    const setup = join(own, "setup.sh");
    writeFileSync(setup, SETUP({ own, root, source: rootfs(), dial: program("dial"), files }));
    const words = ["--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "--propagation", "private", "sh", "-e", setup];
    const child = spawn("unshare", words, { cwd: REPOSITORY, stdio: ["ignore", "pipe", "pipe"] });
    const [said, errors] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, "close")]);
    const lines = said.split("\n").filter((line) => line.startsWith("SAID "));
    if (child.exitCode !== 0) throw new Error(`${errors}\n${said}`);
    return lines.map((line) => JSON.parse(line.slice(5)));
  }

  test("a public address is reached over TCP and UDP, the resolver too, and no address of the host, of a private network or of a cloud's metadata", async () => {
    const targets = (addresses: readonly string[]) => addresses.flatMap((one) => [`tcp:${one}:80`, `udp:${one}:80`]);
    const [first, named, resolver, seen] = (await inNetwork(`
      await using pool = await open();
      say(await dial(pool, ${JSON.stringify(targets([OUTSIDE, ...WALLED, ...OWN]))}));
      await using other = await open({ network: { outbound: { private: ["10.1.0.0/16"] } } });
      say(await dial(other, ${JSON.stringify(targets(["10.1.0.1", "10.2.0.1", "169.254.169.254", "20.0.0.2"]))}));
      say(await dial(pool, ["udp:192.0.0.3:53"], "cat /etc/resolv.conf"));
      const attack = "b=/bin/busybox; $b ip link set out0 down; $b ip route del default; $b ip address add 10.2.0.9/8 dev out0; $b unshare -Un $b true && echo unshared; "
        + "for p in /proc/[2-9] /proc/[1-9][0-9]; do cat $p/environ $p/mem; ls $p/root/ $p/fd; kill -9 \${p#/proc/}; kill -STOP \${p#/proc/}; done; cat /proc/net/dev";
      say(await dial(pool, ["tcp:${OUTSIDE}:80", "tcp:10.2.0.1:80"], attack));
    `)) as [string[], string[], string[], string[]];
    expect(first.slice(0, 2)).toEqual([
      `tcp:${OUTSIDE}:80 tcp from 20.0.0.2`,
      expect.stringMatching(new RegExp(`^udp:${OUTSIDE}:80 udp from 20.0.0.2 port \\d{5}$`)),
    ]);
    for (const line of first.slice(2)) expect(line).toMatch(/ error \d+$/);
    expect(named[0]).toBe("tcp:10.1.0.1:80 tcp from 20.0.0.2");
    expect(named[1]).toMatch(/^udp:10.1.0.1:80 udp from 20.0.0.2 port/);
    for (const line of named.slice(2)) expect(line).toMatch(/ error \d+$/);
    expect(resolver).toEqual(["nameserver 192.0.0.3", expect.stringMatching(/^udp:192.0.0.3:53 udp from 127.0.0.1 port \d+$/)]);
    // As of a box in which nobody has tried: directories and files of pasta are closed, and the network is as it was.
    expect(seen.filter((line) => /PATH=|unshared/.test(line))).toEqual([]);
    expect(seen.filter((line) => /^ *(lo|out0):/.test(line))).toHaveLength(2);
    expect(seen.slice(-2)).toEqual([`tcp:${OUTSIDE}:80 tcp from 20.0.0.2`, "tcp:10.2.0.1:80 error 111"]);
  });

  test("two boxes at once are both connected, with ports of their own; a pasta that is killed leaves its box without a network, and one that is stopped does not hold up the end", async () => {
    const [both, after, ports, left] = (await inNetwork(`
      const pool = await open();
      const ask = "/tmp/dial udp:${OUTSIDE}:80; echo asked; while read line; do /tmp/dial tcp:${OUTSIDE}:80; done";
      const boxes = await Promise.all([0, 1].map(() => pool.take({ ...shell(ask), files: FILES, openStdin: true })));
      const said = boxes.map((box) => lines(box));
      await until(() => said.every((one) => one.includes("asked")), "both have asked");
      say(said.map((one) => one[0]));
      const before = pastas();
      const tables = ["tcp", "tcp6"].map((name) => readFileSync("/proc/net/" + name, "utf8")).join("");
      const listeners = [...tables.matchAll(/^ *\\d+: [0-9A-F]+:([0-9A-F]{4}) \\S+ 0A /gm)].map((found) => Number.parseInt(found[1]!, 16)).sort();
      process.kill(before[0].pid, "SIGKILL");
      await until(() => boxes.some((box) => box.networkLost), "the loss is seen");
      for (const box of boxes) { box.stdin.write("again\\n"); box.stdin.end(); }
      const ends = await Promise.all(boxes.map((box) => box.wait()));
      await until(() => said.every((one) => one.at(-1).startsWith("tcp:")), "both have asked again");
      say(ends.map((end, at) => [end.endedBy, end.networkLost ?? false, said[at].at(-1)]).sort((one, other) => one[1] - other[1]));
      say([listeners, ...before.map((one) => [one.uid, one.seccomp])]);
      const last = await pool.take(shell("sleep 1000"));
      await until(() => pastas().length === 1, "one is left");
      process.kill(pastas()[0].pid, "SIGSTOP");
      await pool.close();
      say([pastas(), (await last.wait()).endedBy, pool.stats().networksLost]);
    `)) as [string[], [string, boolean, string][], unknown[], unknown[]];
    const port = (line: string) => Number(/ port (\d+)$/.exec(line)?.[1]);
    expect(Math.floor(port(both[0]!) / 32)).not.toBe(Math.floor(port(both[1]!) / 32));
    expect(Math.min(...both.map(port))).toBeGreaterThan(49_151);
    expect(after).toEqual([
      ["itself", false, `tcp:${OUTSIDE}:80 tcp from 20.0.0.2`],
      ["itself", true, `tcp:${OUTSIDE}:80 error 101`],
    ]);
    // Those of the test alone: pasta listens at no port of the host.
    expect(ports).toEqual([
      [53, 80],
      ["1879048192", "2"],
      ["1879048192", "2"],
    ]);
    expect(left).toEqual([[], "itself", 1]);
  });

  test("an owner that is killed leaves no network that outlives its boxes: the deadline ends both, and the next owner ends what is in use", async () => {
    const said = await inNetwork(
      `
      const other = await open({}, "other");
      await other.take(shell("sleep 1000"));
      const pool = await open({ seconds: 1 }, "pool");
      await pool.take(shell("sleep 1000"));
      say(pastas().length);
      writeFileSync(OWN + "/hangs", "");
      // It is a user who owns nothing.
      chmodSync(OWN + "/hangs", 0o666);
      fake("echo yes > " + OWN + "/hangs; exec sleep 1000");
      void open({}, "begun").then((begun) => begun.take(shell("sleep 1000")));
      await until(() => readFileSync(OWN + "/hangs", "utf8") !== "", "a pasta hangs");
      process.kill(process.pid, "SIGKILL");
    `,
      `
      fake(undefined);
      const boxes = OWN + "/begun/boxes/";
      const marked = readdirSync(boxes).filter((id) => existsSync(boxes + id + "/outbound"));
      const begun = await open({}, "begun");
      say([marked.length, marked.filter((id) => existsSync(boxes + id)).length]);
      await begun.close();
      await until(() => pastas().length === 1, "the deadline has ended one");
      const pool = await open({}, "other");
      say(pastas().length);
      say(await dial(pool, ["tcp:${OUTSIDE}:80"]));
      await pool.close();
      await Pool.discard({ stateDir: OWN + "/pool", binary: RUNT });
      say(pastas().length);
    `,
    );
    expect(said).toEqual([2, [1, 0], 0, [`tcp:${OUTSIDE}:80 tcp from 20.0.0.2`], 0]);
  });

  test("a pasta that hangs, fails, says it is there and is not, or is missing is an error that names it, and leaves nothing", async () => {
    const said = (await inNetwork(`
      const pool = await open();
      const why = async (request = {}) => pool.take({ ...shell("exit 0"), ...request }).then(() => "taken", (error) => error.code + ": " + error.message);
      fake("echo no such thing >&2; exit 3");
      say(await why());
      fake("exec sleep 1000");
      say(await why({ signal: AbortSignal.timeout(300) }));
      const started = performance.now();
      say(await why());
      say(performance.now() - started < 60_000);
      fake(undefined);
      say(await dial(pool, ["tcp:${OUTSIDE}:80"]));
      await pool.run(shell("exit 0"));
      delete process.env.PATH;
      say(await dial(pool, ["tcp:${OUTSIDE}:80"]));
      process.env.PATH = OWN + "/nothing";
      say(await open({}, "missing").then(() => "open", (error) => error.code + ": " + error.message));
      await pool.close();
      say([pastas(), pool.stats().taken]);
    `)) as string[];
    expect(said[0]).toBe("launch-failed: network: pasta: no such thing (package passt)");
    expect(said[1]).toMatch(/^aborted: /);
    expect(said[2]).toBe("launch-failed: network: pasta has not ended within 10 s (package passt)");
    expect(said[3]).toBe(true);
    expect(said[4]).toEqual([`tcp:${OUTSIDE}:80 tcp from 20.0.0.2`]);
    expect(said[5]).toEqual(said[4]);
    expect(said[6]).toBe("invalid-argument: network: outbound needs the program pasta: it is in the package passt");
    expect(said[7]).toEqual([[], 0]);
  });
});

const PRELUDE = ({ own, root }: { own: string; root: string }) => `
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, sandbox } from ${JSON.stringify(join(REPOSITORY, "src/executor/index.ts"))};
const OWN = ${JSON.stringify(own)};
const RUNT = ${JSON.stringify(RUNT)};
const FILES = { "/tmp/dial": { content: readFileSync(${JSON.stringify(program("dial"))}), mode: 0o755 } };
const say = (value: unknown) => console.log("SAID " + JSON.stringify(value));
const shell = (text: string) => ({ cmd: "/bin/sh", args: ["-c", text] });
const open = (options: object = {}, name = "pool" + Math.random()) =>
  Pool.open({ template: sandbox({ rootfs: ${JSON.stringify(root)}, network: "outbound", seconds: 120, ...options } as never), size: 1, stateDir: OWN + "/" + name, binary: RUNT });
const dial = async (pool: Pool, targets: string[], before = "true") =>
  (await pool.run({ ...shell(before + "; exec /tmp/dial " + targets.join(" ")), files: FILES })).stdout.toString().trim().split("\\n");
const lines = (box: { stdout: NodeJS.ReadableStream }) => { const all: string[] = []; createInterface(box.stdout).on("line", (line) => all.push(line)); return all; };
const field = (status: string, name: string) => new RegExp("^" + name + ":\\\\t(\\\\S+)", "m").exec(status)?.[1];
/** Those of this network. */
const pastas = () => readdirSync("/proc").flatMap((pid) => {
  try {
    const status = readFileSync("/proc/" + pid + "/status", "utf8");
    if (!/^Name:\\t(passt|pasta)/.test(status) || /^State:\\t[ZX]/m.test(status)) return [];
    return [{ pid: Number(pid), uid: field(status, "Uid"), seccomp: field(status, "Seccomp") }];
  } catch {
    return [];
  }
});
const until = async (condition: () => boolean, what: string) => {
  for (const end = Date.now() + 60_000; !condition(); await sleep(10)) if (Date.now() > end) throw new Error("not in time: " + what);
};
const fake = (text: string | undefined) => {
  const path = OWN + "/bin/pasta";
  if (text === undefined) return rmSync(path);
  writeFileSync(path, "#!/bin/sh\\n" + text + "\\n");
  chmodSync(path, 0o755);
};
`;

const SETUP = ({
  own,
  root,
  source,
  dial,
  files,
}: {
  own: string;
  root: string;
  source: string;
  dial: string;
  files: readonly string[];
}) => `
cp -ax ${source} ${root}; mkdir -p ${root}/etc; : > ${root}/etc/resolv.conf
mkdir ${own}/bin ${own}/nothing ${own}/tun
mount -t tmpfs tun ${own}/tun; mknod -m 666 ${own}/tun/tun c 10 200; mount --bind ${own}/tun/tun /dev/net/tun
echo nameserver 127.0.0.1 > ${own}/resolv.conf; mount --bind ${own}/resolv.conf /etc/resolv.conf
ip link set lo up
unshare --net sh -c 'echo; exec sleep 1000' > ${own}/internet & there=$!
until [ -s ${own}/internet ]; do sleep 0.05; done
ip link add out type veth peer name in netns $there
ip address add 20.0.0.2/24 dev out; ip link set out up; ip route add default via 20.0.0.1
ip link add asleep type veth; ip address add 21.0.0.1/32 dev asleep; ip route add local 22.0.0.0/24 dev lo
nsenter --net=/proc/$there/ns/net sh -ec 'ip link set lo up; ip address add 20.0.0.1/24 dev in; ip link set in up
for a in ${[OUTSIDE, ...WALLED.slice(0, -1)].join(" ")}; do ip address add $a/32 dev lo; done'
nsenter --net=/proc/$there/ns/net ${dial} serve ${[OUTSIDE, ...WALLED.slice(0, -1)].map((one) => `${one}:80`).join(" ")} > ${own}/served &
${dial} serve 0.0.0.0:80 127.0.0.1:53 > ${own}/serving &
until [ -s ${own}/served ] && [ -s ${own}/serving ]; do sleep 0.05; done
export PATH=${own}/bin:$PATH
${files.map((file, at) => `${process.execPath} --import tsx ${file} || [ $? = 137 -a ${at} != ${files.length - 1} ]`).join("\n")}
`;
