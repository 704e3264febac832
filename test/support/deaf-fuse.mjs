/**
 * A FUSE file system that takes requests and answers none but the first (INIT): whoever asks it waits in the kernel, and not even SIGKILL ends that. Its end is the end of
 * this process. Arguments: a process whose mount namespace it is mounted in, and where. It prints a line when it is mounted, and one for the first request that it keeps.
 */
import { execFileSync } from "node:child_process";
import { openSync, readSync, writeSync } from "node:fs";

const INIT = 26;
/** struct fuse_in_header */
const [OPCODE, UNIQUE] = [4, 8];
/** struct fuse_out_header and struct fuse_init_out of version 7.23 and later. */
const [OUT_HEADER, INIT_OUT] = [16, 64];

const [pid, target] = process.argv.slice(2);
const fuse = openSync("/dev/fuse", "r+");
const options = "fd=3,rootmode=40000,user_id=0,group_id=0";
execFileSync("nsenter", ["-t", pid, "-m", "/bin/busybox", "mount", "-t", "fuse", "-o", options, "deaf", target], {
  stdio: ["ignore", "inherit", "inherit", fuse],
  timeout: 60_000,
  killSignal: "SIGKILL",
});
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
readSync(fuse, request);
console.log("kept");
for (;;) readSync(fuse, request);
