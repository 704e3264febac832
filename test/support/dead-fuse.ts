/** A FUSE file system that answers nothing, below a container's root. */
import { join } from "node:path";
import { appears, type useBackground } from "./background.ts";

/**
 * Mount it in the mount namespace of this process, in a container whose root file system is the tests'; it answers nothing for as long as the
 * test lasts. `directory`: for a file that says that it is there.
 */
export async function mountDead(
  begin: ReturnType<typeof useBackground>["begin"],
  directory: string,
  pid: number,
  target: string,
): Promise<void> {
  const marker = join(directory, `fuse-${Math.random().toString(36).slice(2)}`);
  const script = `exec 3<>/dev/fuse; nsenter -t "$1" -m "$2" mount -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 dead "$3" || exit 1
: > "$4"; exec sleep 1000`;
  begin(["-c", script, "bash", String(pid), "/bin/busybox", target, marker], ["bash"]);
  await appears(marker);
}
