/**
 * A FUSE file system that takes requests and answers none but the first (INIT) and ACCESS, so that a process can have it as its working directory: whoever asks it waits in
 * the kernel, and not even SIGKILL ends that. Its end is the end of this process. Arguments: where it is mounted, and a container's process in whose mount namespace that is;
 * default: that of this process. It prints a line when it is mounted, and one for the first request that it keeps.
 */
import { execFileSync } from "node:child_process";
import { openSync, readSync, writeSync } from "node:fs";

const INIT = 26;
const ACCESS = 34;
const ENOSYS = 38;
/** struct fuse_in_header */
const [OPCODE, UNIQUE] = [4, 8];
/** struct fuse_out_header and struct fuse_init_out of version 7.23 and later. */
const [OUT_HEADER, INIT_OUT] = [16, 64];

const [target, pid] = process.argv.slice(2);
const fuse = openSync("/dev/fuse", "r+");
const words = ["-t", "fuse", "-o", "fd=3,rootmode=40000,user_id=0,group_id=0", "deaf", target];
const bounds = { stdio: ["ignore", "inherit", "inherit", fuse], timeout: 60_000, killSignal: "SIGKILL" };
if (pid === undefined) execFileSync("mount", ["-i", ...words], bounds);
else execFileSync("nsenter", ["-t", pid, "-m", "/bin/busybox", "mount", ...words], bounds);
const request = Buffer.alloc(256 * 1024);
readSync(fuse, request);
if (request.readUInt32LE(OPCODE) !== INIT) throw new Error("the first request is not INIT");
const answer = Buffer.alloc(OUT_HEADER + INIT_OUT);
answer.writeUInt32LE(answer.length, 0);
request.copy(answer, 8, UNIQUE, UNIQUE + 8);
answer.writeUInt32LE(7, OUT_HEADER);
answer.writeUInt32LE(31, OUT_HEADER + 4);
answer.writeUInt32LE(4096, OUT_HEADER + 20);
writeSync(fuse, answer);
console.log("mounted");
for (let isTold = false; ; ) {
  readSync(fuse, request);
  if (request.readUInt32LE(OPCODE) === ACCESS) {
    const refusal = Buffer.alloc(OUT_HEADER);
    refusal.writeUInt32LE(OUT_HEADER, 0);
    refusal.writeInt32LE(-ENOSYS, 4);
    request.copy(refusal, 8, UNIQUE, UNIQUE + 8);
    writeSync(fuse, refusal);
  } else if (!isTold) {
    console.log("kept");
    isTold = true;
  }
}
