/** Manual of the verbs that turn a container into files and back. */
import type { VerbManual } from "./definition.ts";

export const CRIU_MANUAL = {
  checkpoint: {
    description: [
      "Writes the processes of a running or paused container to files, with criu (3.0 or newer, as root), and removes the container. With " +
        "--leave-running it goes on. When criu fails, the container goes on as before, and the error names the log.",
      "What comes from outside is not part of a checkpoint: the content of bind mounts and of the root file system, network devices, and " +
        "namespaces that the container joined. They have to be there again for restore.",
      "--pre-dump writes only the memory while the container goes on. A checkpoint with --parent-path then takes what has changed since.",
      "The annotation org.criu.config, or else /etc/criu/runt.conf or /etc/criu/runc.conf, names further settings of criu.",
    ],
    examples: [
      "runt checkpoint --image-path /var/lib/images/web web",
      "# in two steps, with a short pause",
      "runt checkpoint --pre-dump --image-path /images/1 web",
      "runt checkpoint --parent-path ../1 --image-path /images/2 web",
    ],
    seeAlso: ["restore", "pause"],
  },
  restore: {
    description: [
      "Makes a container from the files of a checkpoint and the bundle: its processes go on where they were. Cgroups and limits, bind mounts, " +
        "joined namespaces and the terminal are those of the bundle's config.json; prestart and createRuntime hooks run before the processes do. " +
        "Other hooks of the start do not.",
      "The standard streams of runt take the place of those that the container had, where these were pipes or files from outside.",
      "What config.json or the mount of its source has read-only is so in the restored container, or nothing is restored.",
      "When criu fails nothing is left, and the error names the log.",
    ],
    examples: [
      "runt restore --image-path /var/lib/images/web -b /bundles/web web",
      "# in the background",
      "runt restore -d --pid-file web.pid --image-path /images/2 -b /bundles/web web",
    ],
    exitStatus: [
      ["status of the program", "in the foreground; 128 + the signal when one killed it"],
      ["1", "runt or criu could not restore the container, or the program ended with 1"],
    ],
    seeAlso: ["checkpoint", "run"],
  },
} as const satisfies Readonly<Record<string, VerbManual>>;
