/** The disk that stays when the power goes, and the service whose state is on it. */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { copiedRootfs, REPOSITORY } from "../../support/programs.ts";
import { STATE, UNIT } from "../service.ts";

const DISK = "/mnt/kept";
/** Also where containers write that they have begun: NAME has one line for each time, the boot id. */
export const BEGUN = join(DISK, "begun");
export const WITNESS = join(DISK, "witness");
export const ROOTFS = join(DISK, "rootfs");
export const RUNT = join(REPOSITORY, "bin/runt");

export const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

/** The journal of the file system is replayed here. */
export function mountDisk(): void {
  const name = readdirSync("/sys/block").find((one) => {
    const serial = join("/sys/block", one, "serial");
    return existsSync(serial) && readFileSync(serial, "utf8").trim() === "kept";
  });
  if (name === undefined) throw new Error("no disk with the serial number kept");
  for (const directory of [DISK, STATE]) mkdirSync(directory, { recursive: true });
  execFileSync("mount", ["-t", "ext4", `/dev/${name}`, DISK]);
  for (const directory of [join(DISK, "state"), BEGUN]) mkdirSync(directory, { recursive: true });
  execFileSync("mount", ["--bind", join(DISK, "state"), STATE]);
  if (!existsSync(ROOTFS)) {
    copiedRootfs(DISK);
    execFileSync("sync", ["-f", DISK]);
  }
}

/** The unit as it is shipped, with the program of this tree. It is not started. */
export function installUnit(): void {
  const text = readFileSync(join(REPOSITORY, "packaging/runtd.service"), "utf8");
  const program = `${process.execPath} ${join(REPOSITORY, "dist/runtd/main.js")}`;
  writeFileSync(`/run/systemd/system/${UNIT}`, text.replace("@BINDIR@/runtd", program));
  execFileSync("systemctl", ["daemon-reload"]);
}

/** What SQLite says of a copy, before a daemon has opened the store: "ok". */
export function lookAtStore(): string {
  const copy = "/tmp/store";
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy);
  const files = readdirSync(STATE).filter((name) => /^engine\.db(-wal)?$/.test(name));
  if (files.length === 0) return "ok";
  for (const name of files) execFileSync("cp", [join(STATE, name), copy]);
  const database = new DatabaseSync(join(copy, "engine.db"));
  try {
    return (database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[]).map((row) => row.integrity_check).join("; ");
  } finally {
    database.close();
  }
}

/** To whoever watches the machine from outside. */
export function tellOutside(line: string): void {
  appendFileSync("/dev/console", `guest: ${line}\n`);
}
