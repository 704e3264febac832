import { Option } from "commander";
import { PULL_POLICIES } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { printable } from "../output/style.ts";
import { print, printError } from "../platform/index.ts";
import type { PulledImage } from "../pulling.ts";
import { pullWithBar } from "../pulling.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly policy?: string;
  readonly credentials?: string;
  readonly quiet?: true;
}

const WORDS: Readonly<Record<PulledImage["via"], string>> = {
  pulled: "has come",
  current: "is there, and its source has nothing newer",
  cache: "is there",
  usingCachedDigest: "is there from before: its source has failed",
};

export const pull = verb<Options>({
  name: "pull",
  summary: "pull an image, before a task needs it",
  description: [
    "On a terminal, pull shows a progress bar, otherwise a line for each step. A short name is as for `run`. The last line of the standard output is the digest. ^C ends the pull, unless a task also waits for the image.",
  ],
  examples: [
    ["pull docker://registry.example:5000/shop/web:v1", "pull the current image of the tag"],
    ["pull -q oci-archive:/srv/web.tar", "print the digest only"],
  ],
  define: (command) =>
    command
      .argument("<image>", "docker://HOST/NAME[:tag], oci:DIR[:tag], oci-archive:FILE, docker-archive:FILE, or a name as for `run`")
      .addOption(
        new Option("--policy <policy>", "when to ask the registry; default: as configured for the daemon").choices([...PULL_POLICIES]),
      )
      .option("--credentials <name>", "name of the daemon's credentials for the registry")
      .option("-q, --quiet", "print only the digest"),
  async run({ sockets }, [reference = ""], { policy, credentials, quiet }) {
    const image = await pullWithBar(sockets, { reference, policy, credentials }, quiet);
    if (!quiet) printError(`${printable(image.reference)} ${WORDS[image.via]}${image.error === null ? "" : `: ${printable(image.error)}`}`);
    print(image.digest);
    return EXIT.done;
  },
});
