/**
 * Cases from machines that run: strace says what has come from the guest, and what the host has written. As root after `make guest-image`:
 *
 *   record.ts DIRECTORY
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFrame, FrameDecoder } from "../../src/runtime/isolation/channel/index.ts";
import { sampleConfig } from "../support/config.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";
import { VM, WITH_IMAGE } from "../support/vm.ts";
import { guestItems, hostItem, type Item, printCase } from "./case.ts";

const RUNT = join(REPOSITORY, "bin/runt");
const MIB = 1024 ** 2;
/** Behind its length. */
const FIRST_OF_THE_GUEST = encodeFrame(
  "hello",
  0,
  Uint8Array.from('{"', (each) => each.charCodeAt(0)),
).subarray(4, 14);

interface Passed {
  readonly fromGuest: boolean;
  readonly bytes: Buffer;
}

/** strace writes each byte by itself, as hexadecimal digits. */
const unescaped = (text: string): Buffer => Buffer.from(text.replaceAll("\\x", ""), "hex");

/** Reads and writes of sockets, in their order, by the inode. */
function socketsIn(trace: string): ReadonlyMap<string, readonly Passed[]> {
  const begun = new Map<string, string>();
  const found = new Map<string, Passed[]>();
  for (const line of trace.split("\n")) {
    const [, process = "", text = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const head = /^(.*) <unfinished \.\.\.>$/.exec(text)?.[1];
    if (head !== undefined) begun.set(process, head);
    const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)?.[1];
    const whole = rest === undefined ? text : `${begun.get(process) ?? ""}${rest}`;
    const [, name, place = "", bytes = "", length] = /^(read|write)\(\d+<([^>]*)>, "([^"]*)", \d+\) = (\d+)$/.exec(whole) ?? [];
    const inode = unescaped(place).toString("latin1");
    if (!inode.startsWith("socket:")) continue;
    const passed = { fromGuest: name === "read", bytes: unescaped(bytes).subarray(0, Number(length)) };
    found.set(inode, [...(found.get(inode) ?? []), passed]);
  }
  return found;
}

/** The channel is the socket on which the guest says hello. */
function channelIn(trace: string): readonly Passed[] {
  const isChannel = (passed: readonly Passed[]): boolean => {
    const said = Buffer.concat(passed.flatMap(({ fromGuest, bytes }) => (fromGuest ? bytes : [])));
    return said.subarray(4, 14).equals(FIRST_OF_THE_GUEST);
  };
  const found = [...socketsIn(trace).values()].find(isChannel);
  if (!found) throw new Error("the guest has said no hello");
  return found;
}

function itemsOf(passed: readonly Passed[]): Item[] {
  const decoder = new FrameDecoder("host");
  const items = [hostItem("create")];
  let isFirst = true;
  for (const { fromGuest, bytes } of passed) {
    if (fromGuest) items.push(...guestItems(bytes));
    for (const { name, stream, payload } of fromGuest ? [] : decoder.push(bytes)) {
      if (name === "open" && !isFirst) items.push(hostItem("open"));
      if (name === "open") isFirst = false;
      if (name === "make") items.push(hostItem("create"));
      if (name === "stdin") items.push(hostItem("feed", stream, payload.length - 1));
      if (name === "stdinEnd") items.push(hostItem("close", stream));
      if (name === "credit") items.push(hostItem("release", stream, Math.min(0xffff, payload[0]! + (payload[1]! << 8) - 1)));
    }
  }
  return items;
}

const directory = process.argv[2];
if (directory === undefined) throw new Error("record.ts DIRECTORY");
mkdirSync(directory, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), "runt-record-"));
const environment = { ...process.env, ...WITH_IMAGE.env };
const runt = (input: string, ...words: readonly string[]): void =>
  void spawnSync(RUNT, ["--root", join(scratch, "root"), ...words], { input, env: environment, stdio: ["pipe", "ignore", "ignore"] });

/** A container with this program; meanwhile other verbs. */
async function record(name: string, program: string, terminal: boolean, meanwhile: (id: string) => void): Promise<void> {
  const bundle = join(scratch, name);
  const trace = join(scratch, `${name}.trace`);
  const id = `record-${process.pid}-${name}`;
  mkdirSync(bundle);
  const config = sampleConfig("hello");
  config.root.path = sharedRootfs();
  config.process.args = ["/bin/sh", "-c", program];
  config.process.terminal = terminal;
  config.linux.resources = { memory: { limit: 32 * MIB } };
  config.linux.cgroupsPath = `/${id}`;
  writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
  const words = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", "70000", "-e", "trace=read,write", "-o", trace];
  const run = [RUNT, "--root", join(scratch, "root"), "run", ...VM, "-b", bundle, id];
  // A terminal of its own comes from script(1).
  const command = terminal ? ["script", "-qec", run.map((word) => `'${word}'`).join(" "), "/dev/null"] : run;
  const child = spawn("strace", [...words, ...command], { env: environment, stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (bytes: Buffer) => {
    printed += bytes.toString("latin1");
  });
  const ended = once(child, "close");
  while (!printed.includes("up")) {
    if (child.exitCode !== null) throw new Error(`${name}: ${printed}`);
    await new Promise((done) => setTimeout(done, 100));
  }
  meanwhile(id);
  child.stdin.end("to stdin\n".repeat(1000));
  await ended;
  writeFileSync(join(directory!, name), printCase(itemsOf(channelIn(readFileSync(trace, "latin1")))));
}

try {
  await record("plain", "echo up; wc -c; head -c 20000 /dev/zero; echo >&2 no; exit 3", false, (id) => {
    runt("", "exec", id, "/bin/echo", "in exec");
    runt("to exec\n".repeat(9000), "exec", id, "/bin/cat");
    runt("", "exec", id, "/bin/none");
    runt("", "events", "--stats", id);
  });
  await record("memory", "echo up; cat >/dev/null; tail /dev/zero; tail /dev/zero; echo over", false, (id) => {
    runt("", "exec", id, "/bin/sh", "-c", "kill -9 $$");
  });
  await record("terminal", "echo up; read line; echo again", true, (id) => runt("", "kill", id, "WINCH"));
  console.log(execFileSync("ls", ["-l", directory], { encoding: "utf8" }));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
