/** Logins to registries: the words of docker, podman and skopeo. */
import type { Command } from "commander";
import { EXIT, UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { absolutePath, isTerminal, print, printError, readInput, variable } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { askHidden, askLine } from "../streams/prompt.ts";
import { verb } from "../verb.ts";

interface Place {
  readonly authfile?: string;
  readonly credentials?: string;
}

interface LoginOptions extends Place {
  readonly username?: string;
  readonly passwordStdin?: true;
  readonly getLogin?: true;
}

interface LogoutOptions extends Place {
  readonly all?: true;
}

/** The registry of short names. */
const USUAL_REGISTRY = "docker.io";
/** In bytes, as the daemon accepts it. */
const LONGEST_PASSWORD = 65_536;
const REGISTRY = "HOST[:PORT] or HOST[:PORT]/NAMESPACE; default: docker.io";

function withPlace(command: Command): Command {
  return command
    .option("--authfile <file>", "file with logins, on the daemon's host; default: REGISTRY_AUTH_FILE, else the file that its pulls read")
    .option("--credentials <name>", "name of the daemon's credentials whose file is meant");
}

function placeOf({ authfile = variable("REGISTRY_AUTH_FILE"), credentials }: Place) {
  if (credentials !== undefined) return { credentials };
  return authfile === undefined || authfile === "" ? {} : { file: absolutePath(authfile) };
}

/** @throws UsageError */
function assertOnePlace({ authfile, credentials }: Place): void {
  if (authfile !== undefined && credentials !== undefined) throw new UsageError("--authfile and --credentials both name a file");
}

export const login = verb<LoginOptions>({
  name: "login",
  summary: "log in to a registry, for pulls and pushes",
  description: [
    "The daemon asks the registry, and writes the login to the file that its pulls read, or gives it to the credential helper that the file names. On a terminal, login asks for what is missing; a password is not shown.",
  ],
  examples: [
    ["login registry.example:5000", "ask for the user and the password"],
    ["login -u ci --password-stdin registry.example < password", "read the password from a file"],
    ["login --get-login registry.example", "print who is logged in"],
  ],
  define: (command) =>
    withPlace(
      command
        .argument("[registry]", REGISTRY)
        .option("-u, --username <user>", "user of the registry")
        .option("--password-stdin", "read the password from the standard input")
        .option("--get-login", "print the user that is logged in, and change nothing"),
    ),
  async run(session, [registry = USUAL_REGISTRY], options) {
    assertOnePlace(options);
    if (options.getLogin) return printUser(session, registry, options);
    const { username, password } = await asked(options);
    const body = { registry, username, password, ...placeOf(options) };
    const done = await session.client.call<Done>("POST", "/v1/registries/login", body, { isLong: true });
    print("Login Succeeded");
    if (done.readAs === null)
      printError(`Pulls of the daemon do not read ${printable(done.file)}: name it with runtd --credentials NAME=file:FILE.`);
    else if (done.readAs !== "default") printError(`Pulls with the credentials ${printable(done.readAs)} use it.`);
    return EXIT.done;
  },
});

interface Done {
  readonly file: string;
  readonly readAs: string | null;
}

async function printUser({ client }: Session, registry: string, options: LoginOptions): Promise<number> {
  if (options.username !== undefined || options.passwordStdin) throw new UsageError("--get-login takes no user and no password");
  const query = Object.entries({ registry, ...placeOf(options) }).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const { username } = await client.call<{ username: string }>("GET", `/v1/registries/user?${query.join("&")}`, undefined, {
    isLong: true,
  });
  print(printable(username));
  return EXIT.done;
}

/** @throws UsageError: something is missing, and nobody can be asked */
async function asked({ username: given, passwordStdin }: LoginOptions): Promise<{ readonly username: string; readonly password: string }> {
  if (passwordStdin) {
    if (given === undefined) throw new UsageError("--password-stdin needs --username");
    return { username: given, password: passwordIn(readInput(LONGEST_PASSWORD)) };
  }
  if (!isTerminal()) throw new UsageError("the standard input is no terminal: give the password with --username and --password-stdin");
  const username = given ?? (await askLine("Username: "));
  const password = username && (await askHidden("Password: "));
  if (!username || !password) throw new UsageError("a user and a password are needed");
  return { username, password };
}

/** @throws UsageError */
function passwordIn(bytes: Uint8Array): string {
  const text = Buffer.from(bytes)
    .toString()
    .replace(/\r?\n$/, "");
  if (bytes.length > LONGEST_PASSWORD) throw new UsageError(`the password is longer than ${LONGEST_PASSWORD} bytes`);
  if (text === "" || /[\r\n]/.test(text)) throw new UsageError("the standard input has to be one line, with the password");
  return text;
}

export const logout = verb<LogoutOptions>({
  name: "logout",
  summary: "remove the login of a registry, or all logins (--all)",
  description: ["The login is removed from the file that `login` writes, and from the credential helper that the file names."],
  examples: [["logout registry.example:5000", "forget the password for a registry"]],
  define: (command) => withPlace(command.argument("[registry]", REGISTRY).option("-a, --all", "every registry")),
  async run({ client }, [registry], options) {
    assertOnePlace(options);
    if (options.all && registry !== undefined) throw new UsageError("--all stands for every registry, and none is named");
    const which = options.all ? { all: true } : { registry: registry ?? USUAL_REGISTRY };
    const { removed } = await client.call<{ removed: readonly string[] }>(
      "POST",
      "/v1/registries/logout",
      { ...which, ...placeOf(options) },
      { isLong: true },
    );
    print(`Removed login credentials for ${options.all ? "all registries" : printable(removed.join(", "))}`);
    return EXIT.done;
  },
});
