/**
 * Images that cannot start, one for each way in which people get there, and what the engine's output has to say about it.
 * Every image is the sound one with a layer more.
 */
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ImageDefinition } from "./image.ts";
import { engine, host, type Scenario, type Step } from "./scenario.ts";

interface Content {
  readonly text?: string | Buffer;
  readonly link?: string;
  readonly directory?: true;
  readonly mode?: number;
}

interface Broken {
  readonly name: string;
  readonly command: readonly string[];
  readonly files?: Readonly<Record<string, Content>>;
  readonly cwd?: string;
  readonly user?: string;
  /** Flags of `ctr run` and of `podman run`; `before` is a shell command. */
  readonly flags?: { readonly ctr: readonly string[]; readonly podman: readonly string[]; readonly before?: string };
  /** The culprit, by name. */
  readonly says: RegExp;
}

const EXECUTABLE = 0o755;
const script = (text: string): Content => ({ text: `${text}echo started\n`, mode: EXECUTABLE });
const elf = (text: Buffer): Content => ({ text, mode: EXECUTABLE });

const ELF_TYPE_AT = 16;
const ELF_MACHINE_AT = 18;

function patched(file: string, change: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.from(readFileSync(file));
  change(bytes);
  return bytes;
}

const machine = (number: number): Buffer => patched("/bin/busybox", (bytes) => bytes.writeUInt16LE(number, ELF_MACHINE_AT));

/** Nothing but a header, big endian. */
function bigEndianHeader(number: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write("\u007fELF", 0, "latin1");
  bytes.set([2, 2, 1], 4);
  bytes.writeUInt16BE(2, ELF_TYPE_AT);
  bytes.writeUInt16BE(number, ELF_MACHINE_AT);
  return bytes;
}

/** A program of this host, which needs glibc's loader. */
const DYNAMIC = "/usr/bin/true";
const GLIBC = "/lib64/ld-linux-x86-64.so.2";
const MUSL = "/lib/ld-musl-x86_64.so.1";

function withLoader(loader: string): Buffer {
  return patched(DYNAMIC, (bytes) => {
    const at = bytes.indexOf(GLIBC);
    bytes.fill(0, at, at + GLIBC.length);
    bytes.write(loader, at, "latin1");
  });
}

/** containerd leaves it to a user that is not root until execve. */
const WITHOUT_OVERRIDE = { ctr: ["--cap-drop", "CAP_DAC_OVERRIDE", "--cap-drop", "CAP_DAC_READ_SEARCH"], podman: [] };

export const BROKEN: readonly Broken[] = [
  { name: "name-misspelt", command: ["ehco", "hello"], says: /executable file .*not found in \$PATH: did you mean echo\?/ },
  { name: "name-unknown", command: ["postgres"], says: /executable file .*not found in \$PATH: not in \/usr\/sbin, \/usr\/bin/ },
  { name: "one-word", command: ["echo hello"], says: /"echo hello\\?" is taken as one name/ },
  { name: "path-misspelt", command: ["/bin/buysbox", "true"], says: /no such file or directory: did you mean \/bin\/busybox\?/ },
  { name: "path-elsewhere", command: ["/usr/local/bin/sh"], says: /no such file or directory: there is \/bin\/sh/ },
  { name: "directory-missing", command: ["/srv/app/start"], says: /no such file or directory: the root has no srv/ },
  { name: "file-in-the-way", command: ["/etc/passwd/start"], says: /\/etc\/passwd is not a directory/ },
  {
    name: "link-dangling",
    command: ["/app/start"],
    files: { "app/start": { link: "/app/v2/start" } },
    says: /\/app\/start is a link to \/app\/v2\/start, which is not there/,
  },
  {
    name: "link-out-of-the-root",
    command: ["/app/start"],
    files: { "app/start": { link: "../../../../../../usr/bin/perl" } },
    says: /\/app\/start is a link to .*usr\/bin\/perl, which is not there/,
  },
  {
    name: "crlf",
    command: ["/app/start"],
    files: { "app/start": script("#!/bin/sh\r\n") },
    says: /\/app\/start has Windows line endings.*CR LF/,
  },
  {
    name: "crlf-with-space",
    command: ["/app/start"],
    files: { "app/start": script("#! /bin/sh\r\nset -e\r\n") },
    says: /\/app\/start has Windows line endings.*CR LF/,
  },
  {
    name: "interpreter-missing",
    command: ["/app/start"],
    files: { "app/start": script("#!/usr/bin/python3\n") },
    says: /\/app\/start is a script for \/usr\/bin\/python3, which is missing/,
  },
  {
    name: "interpreter-elsewhere",
    command: ["start"],
    files: { "bin/start": script("#!/usr/local/bin/bash -e\n") },
    says: /\/bin\/start is a script for \/usr\/local\/bin\/bash, which is missing/,
  },
  {
    name: "interpreter-of-interpreter",
    command: ["/app/start"],
    files: { "app/start": script("#!/app/shell\n"), "app/shell": script("#!/opt/lua\n") },
    says: /\/app\/start is a script for \/app\/shell: \/app\/shell is a script for \/opt\/lua, which is missing/,
  },
  {
    name: "interpreter-not-executable",
    command: ["/app/start"],
    files: { "app/start": script("#!/etc/passwd\n") },
    says: /\/app\/start is a script for \/etc\/passwd: \/etc\/passwd has no execute permission/,
  },
  {
    name: "interpreter-is-a-directory",
    command: ["/app/start"],
    files: { "app/start": script("#!/usr/bin\n") },
    says: /\/app\/start is a script for \/usr\/bin: \/usr\/bin is a directory/,
  },
  {
    name: "interpreter-empty",
    command: ["/app/start"],
    files: { "app/start": script("#!\n") },
    says: /\/app\/start: no interpreter follows #!/,
  },
  { name: "no-first-line", command: ["/app/start"], files: { "app/start": script("") }, says: /\/app\/start: it is a text without #!/ },
  { name: "empty", command: ["/app/start"], files: { "app/start": { text: "", mode: EXECUTABLE } }, says: /\/app\/start: it is empty/ },
  {
    name: "byte-order-mark",
    command: ["/app/start"],
    files: { "app/start": script("\ufeff#!/bin/sh\n") },
    says: /\/app\/start: a byte order mark stands before the #!/,
  },
  {
    name: "loader-glibc",
    command: ["/app/start"],
    files: { "app/start": elf(readFileSync(DYNAMIC)) },
    says: /\/app\/start needs the loader \/lib64\/ld-linux-x86-64\.so\.2, which is missing \(it was linked with glibc\)/,
  },
  {
    name: "loader-musl",
    command: ["/app/start"],
    files: { "app/start": elf(withLoader(MUSL)) },
    says: /\/app\/start needs the loader \/lib\/ld-musl-x86_64\.so\.1, which is missing \(it was linked with musl\)/,
  },
  {
    name: "loader-wrong-architecture",
    command: ["/app/start"],
    files: { "app/start": elf(readFileSync(DYNAMIC)), "lib64/ld-linux-x86-64.so.2": elf(machine(183)) },
    says: /\/app\/start needs the loader \/lib64\/ld-linux-x86-64\.so\.2, which is for arm64: wrong architecture/,
  },
  {
    name: "architecture-arm64",
    command: ["/app/start"],
    files: { "app/start": elf(machine(183)) },
    says: /exec format error: \/app\/start is a program for arm64, this machine runs x86-64: wrong architecture/,
  },
  {
    name: "architecture-riscv64",
    command: ["start"],
    files: { "bin/start": elf(machine(243)) },
    says: /\/bin\/start is a program for riscv64, .*wrong architecture/,
  },
  {
    name: "architecture-s390x",
    command: ["/app/start"],
    files: { "app/start": elf(bigEndianHeader(22)) },
    says: /\/app\/start is a program for s390x, .*wrong architecture/,
  },
  {
    name: "architecture-of-the-interpreter",
    command: ["/app/start"],
    files: { "app/start": script("#!/app/shell\n"), "app/shell": elf(machine(183)) },
    says: /\/app\/start is a script for \/app\/shell: \/app\/shell is a program for arm64/,
  },
  {
    name: "elf-cut-off",
    command: ["/app/start"],
    files: { "app/start": elf(readFileSync("/bin/busybox").subarray(0, 40)) },
    says: /\/app\/start is cut off in its header/,
  },
  {
    name: "elf-object",
    command: ["/app/start"],
    files: { "app/start": elf(patched("/bin/busybox", (bytes) => bytes.writeUInt16LE(1, ELF_TYPE_AT))) },
    says: /\/app\/start is an ELF file that is not a program/,
  },
  {
    name: "not-executable",
    command: ["/app/start"],
    files: { "app/start": { text: "#!/bin/sh\n", mode: 0o644 } },
    says: /permission denied: \/app\/start has no execute permission \(mode 0644\)/,
  },
  { name: "is-a-directory", command: ["/etc"], says: /permission denied: \/etc is a directory/ },
  {
    name: "not-for-this-user",
    flags: WITHOUT_OVERRIDE,
    command: ["/app/start"],
    user: "1000",
    files: { "app/start": { text: "#!/bin/sh\n", mode: 0o700 } },
    says: /permission denied: uid 1000 may not execute \/app\/start \(mode 0700, owner 0:0\)/,
  },
  {
    name: "directory-not-for-this-user",
    flags: WITHOUT_OVERRIDE,
    command: ["/private/start"],
    user: "1000",
    files: { private: { directory: true, mode: 0o700 }, "private/start": script("#!/bin/sh\n") },
    says: /permission denied: uid 1000 may not enter \/private \(mode 0700, owner 0:0\)/,
  },
  {
    name: "noexec-mount",
    command: ["/mnt/start"],
    flags: {
      before: "printf '#!/bin/sh\\n' > {dir}/start; chmod 755 {dir}/start",
      ctr: ["--mount", "type=bind,src={dir},dst=/mnt,options=rbind:noexec"],
      podman: ["-v", "{dir}:/mnt:noexec"],
    },
    says: /permission denied: \/mnt\/start is on a file system mounted with noexec \(\/mnt\)/,
  },
  { name: "cwd-is-a-file", command: ["true"], cwd: "/etc/passwd", says: /\/etc\/passwd.* not a directory/ },
  {
    name: "cwd-below-a-file",
    command: ["true"],
    cwd: "/etc/passwd/work",
    // Podman makes it itself.
    says: /\/etc\/passwd is not a directory|etc\/passwd: not a directory/,
  },
  {
    name: "uid-not-mapped",
    command: ["true"],
    user: "5000",
    flags: {
      ctr: ["--uidmap", "0:100000:1000", "--gidmap", "0:100000:1000"],
      podman: ["--uidmap", "0:100000:1000", "--gidmap", "0:100000:1000", "--user", "5000:0"],
    },
    // Podman looks itself.
    says: /id 5000 is not mapped|doesn't map UID 5000/,
  },
  {
    name: "memory-limit",
    command: ["true"],
    flags: { ctr: ["--memory-limit", "16384"], podman: ["--memory", "16k", "--memory-swap", "16k"] },
    says: /memory limit of 16384 bytes is too low/,
  },
];

const reference = (name: string): string => `localhost/broken-${name}:1`;

export const brokenImages: readonly ImageDefinition[] = BROKEN.map(({ name, command, files, cwd, user }) => ({
  reference: reference(name),
  command,
  ...(cwd === undefined ? {} : { cwd }),
  ...(user === undefined ? {} : { user }),
  ...(files === undefined ? {} : { layer: (directory: string) => write(directory, files) }),
}));

function write(directory: string, files: Readonly<Record<string, Content>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    if (content.link !== undefined) symlinkSync(content.link, path);
    else if (content.directory) mkdirSync(path);
    else writeFileSync(path, content.text ?? "");
    if (content.mode !== undefined) chmodSync(path, content.mode);
  }
}

/** One scenario an image: the engine's output names the culprit. */
export function brokenScenarios(name: "ctr" | "podman"): readonly Scenario[] {
  return BROKEN.map((broken) => {
    const before: readonly Step[] = broken.flags?.before === undefined ? [] : [host(broken.flags.before)];
    const words = ["run", "--rm", ...(broken.flags?.[name] ?? []), reference(broken.name), ...(name === "ctr" ? ["{id}"] : [])];
    const expect = { status: "not-zero", output: broken.says } as const;
    return { name: `broken image: ${broken.name}`, only: "runt", steps: [...before, engine(words, expect)] };
  });
}
