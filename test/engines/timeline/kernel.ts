/** The kernel's trace of what a process and its descendants execute: an instance of tracefs of one's own. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const KIB_PER_PROCESSOR = 4096;

/** tracefs is mounted below this directory. */
const mountPoint = (directory: string): string => join(directory, "tracing");
const instanceOf = (directory: string): string => join(mountPoint(directory), "instances", basename(directory));

/** Words in front of a command, in a mount namespace of its own and with the host's numbers of processes: it and its descendants are traced. */
export function traced(directory: string): string[] {
  const instance = instanceOf(directory);
  const script = `set -e
mkdir ${mountPoint(directory)}
mount -t tracefs tracefs ${mountPoint(directory)}
mkdir ${instance}
cd ${instance}
echo mono > trace_clock
echo ${KIB_PER_PROCESSOR} > buffer_size_kb
echo 1 > options/event-fork
echo $$ > set_event_pid
for event in exec exit; do echo 1 > events/sched/sched_process_$event/enable; done
cd /
exec "$@"`;
  return ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", script, "sh"];
}

/** What was traced since the last time. */
export function takeTrace(directory: string): string {
  const file = join(instanceOf(directory), "trace");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, "");
  return text;
}

/** The instance outlives its mounts. In a mount namespace of one's own. */
export function removeTrace(directory: string): void {
  mkdirSync(mountPoint(directory), { recursive: true });
  execFileSync("mount", ["-t", "tracefs", "tracefs", mountPoint(directory)]);
  if (existsSync(instanceOf(directory))) rmdirSync(instanceOf(directory));
  execFileSync("umount", [mountPoint(directory)]);
}
