import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, expect, test } from "vitest";
import { forgetPassedSockets, passedSockets } from "./activation.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-activation-"));
afterAll(() => rmSync(directory, { recursive: true }));
const NAMES = ["admin", "read"];

/** What a process sees that has these as its descriptors from 3 on. Each is made by a line of Python. */
async function seen(makes: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
  const script = `
import os, socket, sys
made = []
${makes.join("\n")}
for number, one in enumerate(made): os.dup2(one.fileno() if hasattr(one, "fileno") else one, 100 + number)
for number in range(len(made)): os.dup2(100 + number, 3 + number, inheritable=True)
os.environ["LISTEN_PID"] = str(os.getpid()) if os.environ.get("LISTEN_PID") is None else os.environ["LISTEN_PID"]
os.execvp(sys.argv[1], sys.argv[1:])`;
  const program = join(directory, "seen.mts");
  writeFileSync(
    program,
    `import { passedSockets } from ${JSON.stringify(join(import.meta.dirname, "activation.ts"))};
try { console.log(JSON.stringify([...passedSockets(process.env, ${JSON.stringify(NAMES)})])); } catch (error) { console.log((error as Error).message); }`,
  );
  const tsx = join(import.meta.dirname, "../../node_modules/tsx/dist/loader.mjs");
  const words = ["-c", script, process.execPath, "--import", tsx, program];
  return (await execa("python3", words, { env: environment })).stdout;
}

const listening = (name: string) =>
  `s = socket.socket(socket.AF_UNIX); s.bind(${JSON.stringify(join(directory, name))}); s.listen(); made.append(s)`;

test("listening sockets are found by their names, with their paths", async () => {
  expect(await seen([listening("a"), listening("b c")], { LISTEN_FDS: "2", LISTEN_FDNAMES: "read:admin" })).toBe(
    JSON.stringify([
      ["read", { descriptor: 3, path: join(directory, "a") }],
      ["admin", { descriptor: 4, path: join(directory, "b c") }],
    ]),
  );
  expect(await seen([listening("d")], { LISTEN_FDS: "1", LISTEN_FDNAMES: "admin", LISTEN_PID: "1" })).toBe("[]");
});

test.each([
  ["a socket that does not listen", `s = socket.socket(socket.AF_UNIX); s.bind(${JSON.stringify(join(directory, "x"))}); made.append(s)`],
  [
    "a datagram socket",
    `s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(${JSON.stringify(join(directory, "y"))}); made.append(s)`,
  ],
  ["a socket of TCP", "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); made.append(s)"],
  ["a file", 'made.append(open("/dev/null"))'],
])("%s is refused by name", async (_, make) => {
  expect(await seen([make], { LISTEN_FDS: "1", LISTEN_FDNAMES: "admin" })).toBe(
    "the passed socket admin (descriptor 3) is no listening stream socket of the unix domain: set ListenStream= to a path",
  );
});

test("an unknown name, the same name twice, and a number that is none are refused", async () => {
  const given = (LISTEN_FDS: string, LISTEN_FDNAMES?: string) => () =>
    passedSockets({ LISTEN_PID: "7", LISTEN_FDS, LISTEN_FDNAMES }, NAMES, 7);
  expect(given("1", "runtd.socket")).toThrow("the passed socket runtd.socket (descriptor 3) has none of the names admin, read");
  expect(given("1")).toThrow("unknown");
  expect(given("x", "admin")).toThrow("LISTEN_FDS=x");
  expect(given("17", "admin")).toThrow("LISTEN_FDS=17");
  expect(given("0")()).toEqual(new Map());
  expect(await seen([listening("e"), listening("f")], { LISTEN_FDS: "2", LISTEN_FDNAMES: "admin:admin" })).toMatch(/name of another/);
  const environment = { LISTEN_FDS: "1", LISTEN_PID: "1", LISTEN_FDNAMES: "a", PATH: "/" };
  forgetPassedSockets(environment);
  expect(environment).toEqual({ PATH: "/" });
});
