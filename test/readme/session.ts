/**
 * A place in which a document's commands are typed as they stand: /usr/local, /tmp and root's /run/runt are its own (a mount namespace), so that
 * `make install` and containers named `hello` meet nothing of the host's. Processes, cgroups and network are the host's.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";
import type { User } from "./commands.ts";

const NOBODY = 65_534;
/** Where the tree is for those who type. */
export const TREE = "/mnt/tree";
const OUTSIDE_TREE = "/";
/** What a root's login shell may have that the way to package registries needs. The rest (make's, npm's, vitest's) stays outside. */
const KEPT_VARIABLES = /^(?:HOME|PATH|LANG|.*_proxy|.*_PROXY|.*CERT.*|.*_CAINFO|.*_BUNDLE|npm_config_(?:registry|cafile|userconfig))$/;

/** The sample bundles have cgroups of fixed names: one session on a host at a time. */
const LOCKED = "/run";
/** Another session types all of the pages, beside whatever else the host has to do. */
export const LONGEST_WAIT_SECONDS = 3600;
const HOLDER = `
set -e
mount --bind "$1" "$0/repository"
mount --rbind "$0" /mnt
mount -t overlay overlay -o lowerdir=/usr/local,upperdir=/mnt/local/upper,workdir=/mnt/local/work /usr/local
mkdir -p /run/runt
mount -t tmpfs -o mode=700 tmpfs /run/runt
mount --bind /mnt/tmp /tmp
# What was built is named by its path, which may be below /tmp.
[ -e "$1/package.json" ] || { mkdir -p "$1" && mount --bind /mnt/repository "$1"; }
echo ready
exec cat
`;
/** Of a command that the tables say nothing about, on a busy machine. */
const LONGEST_SECONDS = 300;
/** Say at the end where the shell is, for the next command. */
const SHELL = 'cd "$0" && {\n$1\n}\nstatus=$?; pwd >&3; exit $status';

export interface Typed {
  readonly status: number;
  /** Both streams, as on a terminal; what containers that live on write later is not in it. */
  readonly output: string;
}

export class Session {
  private readonly directory = mkdtempSync(join(tmpdir(), "runt-readme-"));
  private readonly places: Record<User, string>;
  private holder: ChildProcess | undefined;
  private readonly transcript = join(this.directory, "transcript");

  private constructor() {
    this.places = { root: TREE, nobody: OUTSIDE_TREE };
  }

  /** `prepare` puts the tree into the directory it is given. To be closed. */
  static async open(prepare: (tree: string) => void): Promise<Session> {
    const session = new Session();
    try {
      chmodSync(session.directory, 0o755);
      for (const name of ["tree", "repository", "local/upper", "local/work", "tmp"])
        mkdirSync(join(session.directory, name), { recursive: true });
      chmodSync(join(session.directory, "tmp"), 0o1777);
      writeFileSync(session.transcript, "");
      prepare(join(session.directory, "tree"));
      await session.hold();
    } catch (error) {
      await session.close();
      throw error;
    }
    return session;
  }

  private async hold(): Promise<void> {
    const words = [
      "--wait",
      String(LONGEST_WAIT_SECONDS),
      "--no-fork",
      LOCKED,
      "unshare",
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-c",
      HOLDER,
      this.directory,
      REPOSITORY,
    ];
    const holder = spawn("flock", words, { stdio: ["pipe", "pipe", "inherit"] });
    this.holder = holder;
    await new Promise<void>((done, failed) => {
      holder.stdout.once("data", () => done());
      holder.once("error", failed);
      holder.once("exit", (status) => failed(new Error(`the place could not be made: status ${status}`)));
    });
  }

  /** Everything written so far. */
  said(): string {
    return readFileSync(this.transcript, "utf8");
  }

  /** Type a command (it may be several lines) where the user is; `terminal`: on one, with this input. */
  async type(
    user: User,
    command: string,
    { terminal, seconds = LONGEST_SECONDS }: { terminal?: string | undefined; seconds?: number | undefined } = {},
  ): Promise<Typed> {
    const before = statSync(this.transcript).size;
    const input = join(this.directory, "input");
    const place = join(this.directory, "place");
    writeFileSync(input, terminal ?? "");
    const line = terminal === undefined ? command : `script -qec '${command.replaceAll("'", "'\\''")}' /dev/null`;
    const variables = user === "nobody" ? [] : Object.entries(process.env).filter(([name]) => KEPT_VARIABLES.test(name));
    const words = [
      ...["nsenter", `--mount=/proc/${this.holder?.pid}/ns/mnt`],
      ...(user === "nobody" ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : []),
      ...["env", "-i", ...variables.map(([name, value]) => `${name}=${value}`)],
      ...["sh", "-c", SHELL.replace("$1", () => line), this.places[user]],
    ];
    const fds = [openSync(input, "r"), openSync(this.transcript, "a"), openSync(place, "w")] as const;
    try {
      const [file = "", ...args] = words;
      const child = spawn(file, args, { stdio: [fds[0], fds[1], fds[1], fds[2]], timeout: seconds * 1000, killSignal: "SIGKILL" });
      const status = await new Promise<number>((done, failed) => {
        child.on("error", failed);
        child.on("exit", (code) => done(code ?? 137));
      });
      this.places[user] = readFileSync(place, "utf8").trim() || this.places[user];
      return { status, output: readFileSync(this.transcript).subarray(before).toString("utf8") };
    } finally {
      for (const fd of fds) closeSync(fd);
    }
  }

  /** Containers that a command has left, the holder, the directory. */
  async close(): Promise<void> {
    if (this.holder?.exitCode === null) {
      await this.type("root", 'for id in $(runt list -q 2>/dev/null); do runt delete --force "$id"; done');
      const gone = new Promise((done) => this.holder?.once("exit", done));
      this.holder.stdin?.end();
      await gone;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** The working tree as it is, with what has been built in it: nothing is built anew. */
export function builtTree(tree: string): void {
  const shell = `
    git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\\0" "$f"; done' sh | xargs -0 cp -a --parents -t "$0"
    mkdir "$0/build"
    for name in build/* build/.[a-z]*; do case $name in build/fuzz|build/test*|build/guest|build/bundles|build/bench*|build/*.deb) ;; *) cp -a "$name" "$0/build" ;; esac; done
    for name in bin dist; do [ ! -e $name ] || cp -a $name "$0"; done
    ln -s "$PWD/node_modules" "$0/node_modules"
    # Else a newer lock file would have npm ci empty the directory behind the link.
    touch "$0/build/.setup"
    if directory=$(git rev-parse --absolute-git-dir 2>/dev/null); then printf 'gitdir: %s\\n' "$directory" > "$0/.git"; fi
  `;
  execFileSync("sh", ["-ec", shell, tree], { cwd: REPOSITORY });
}

/** What is committed, and nothing else. */
export function freshTree(tree: string): void {
  execFileSync("git", ["clone", "--quiet", "--no-hardlinks", REPOSITORY, tree]);
  if (!existsSync(join(tree, "README.md"))) throw new Error(`${tree}: not cloned`);
}
