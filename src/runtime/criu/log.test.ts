import { describe, expect, it } from "vitest";
import { endingError } from "./log.ts";

/** Lines of real logs (criu 4.2 on Linux 6.18; the first 3.17), with those left out that are no error. `...` stands for many of them. */
const log = (text: string) => text.trimStart().replaceAll("...\n", "(00.031000) mnt: something else\n".repeat(40));
const RLIMIT = "(00.041872) Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self: Operation not permitted";

describe("the error that ended criu", () => {
  it.each([
    [
      "of a few, the first",
      "(00.000027) Version: 3.17.1\n(00.1) Error (criu/vdso.c:381): vdso: no bounds\n(00.2) Error (criu/x.c:1): later\n",
      "vdso: no bounds",
    ],
    ["of a process", "(00.012345)      1: Error (criu/mount.c:3247): mnt: No mapping for 12\n", "mnt: No mapping for 12"],
    ["without a time", "Error (criu/crtools.c:260): early\n", "early"],
    ["a warning is none", "(00.1) Warn  (criu/x.c:1): Error nowhere\n", undefined],
    ["nothing", "", undefined],
    [
      "not one that criu goes on after",
      `
...
${RLIMIT}
...
(00.059382) Error (criu/mount.c:3141): mnt: No mapping for 109:(null) mountpoint
`,
      "mnt: No mapping for 109:(null) mountpoint",
    ],
    [
      "not one that criu goes on after, however near it is",
      `
${RLIMIT}
(00.032760) No inventory.img image
(00.032771) Error (criu/protobuf.c:72): Unexpected EOF on (empty-image)
`,
      "Unexpected EOF on (empty-image)",
    ],
    [
      "the cause and not where it was noticed, nor what is said of any failure",
      `
${RLIMIT}
...
(00.099333)      1: Error (criu/files-reg.c:2353): Can't open file somefile on restore: No such file or directory
(00.099335)      1: Error (criu/files-reg.c:2267): Can't open file somefile: No such file or directory
(00.099336)      1: Error (criu/files.c:1221): Unable to open fd=5 id=0x4
(00.099415)      3: Restoring resources
(00.100054) mnt: Switching to new ns to clean ghosts
(00.105449) Error (criu/cr-restore.c:2331): Restoring FAILED.
(00.112473) Error (criu/cgroup.c:2055): cg: cgroupd: recv req error: No such file or directory
`,
      "Can't open file somefile on restore: No such file or directory",
    ],
    [
      "not what went wrong long before and was taken",
      `
${RLIMIT}
...
(00.169722) Error (criu/protobuf.c:72): Unexpected EOF on (empty-image)
...
(00.172802) Error (criu/page-xfer.c:410): page-xfer: No parent image found, though parent directory is set: No such file or directory
(00.190900) Error (criu/sk-inet.c:200): inet: Connected TCP socket, consider using --tcp-established option.
(00.190909) ----------------------------------------
(00.190914) Error (criu/cr-dump.c:1545): Dump files (pid: 19982) failed with -1
...
(00.251333) Error (criu/cr-dump.c:1975): Dumping FAILED.
`,
      "inet: Connected TCP socket, consider using --tcp-established option.",
    ],
    [
      "a program that is missing",
      `
${RLIMIT}
...
Error (criu/util.c:642): execvp("iptables-restore", ...) failed: No such file or directory
(00.147237) Error (criu/util.c:657): exited, status=1
(00.147654) Error (criu/net.c:3436): net: Locking network failed: iptables-restore returned -1.
(00.147682) net: Unlock network
Error (criu/util.c:642): execvp("iptables-restore", ...) failed: No such file or directory
(00.148114) Error (criu/util.c:657): exited, status=1
(00.152092) Error (criu/cr-dump.c:1975): Dumping FAILED.
`,
      'execvp("iptables-restore", ...) failed: No such file or directory',
    ],
    [
      "what is left where the cause is no error line",
      `
${RLIMIT}
...
(00.066346) Can't connect to server 127.0.0.1:1
(00.066388) Error (compel/src/lib/infect.c:417): Unable to detach from 20715: No such process
(00.066400) Error (criu/cr-dump.c:1975): Dumping FAILED.
`,
      "Unable to detach from 20715: No such process",
    ],
    ["nothing where there is only one that it goes on after", `${RLIMIT}\n`, undefined],
  ])("%s", (_, text, expected) => expect(endingError(log(text))).toBe(expected));
});
