/** The scenarios that are timed: commands for pair.c, for each of the two sides. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Variant } from "./bundles.ts";
import { REPOSITORY } from "./namespace.ts";
import { crowd, type Place, type Side } from "./side.ts";

export interface Lines {
  /** `@` is the number of the round. */
  readonly before?: readonly string[];
  readonly run: readonly string[];
  readonly after?: readonly string[];
}

export interface Scenario {
  readonly name: string;
  /** As the tables name it. */
  readonly title: string;
  readonly group: "verbs" | "run" | "many";
  /** If a peer does not have this verb, the table says so. */
  readonly verb?: string;
  /** It sets a limit, for which a controller must be there. */
  readonly limits?: boolean;
  /** Fraction of the rounds, for scenarios that take long. */
  readonly share?: number;
  /** A container of each side runs all the time. */
  readonly live?: boolean;
  /** Before the rounds; undone after them. */
  readonly prepare?: (side: Side) => void;
  readonly surroundings?: (place: Place) => () => void;
  readonly lines: (side: Side) => Lines;
}

const EXEC_LOOP = 50;
export const HOST_MOUNTS = 1000;

/** A verb on a running container. */
function alive(name: string, args: (live: string) => string, more: Partial<Scenario> = {}): Scenario {
  const [verb = name] = name.split(" ");
  return {
    name,
    title: `\`${name}\``,
    group: "verbs",
    verb,
    live: true,
    lines: (side) => ({ run: [`${side.command()} ${args(side.live)}`] }),
    ...more,
  };
}

/** A verb that needs no container. */
function alone(name: string, args: string, more: Partial<Scenario> = {}): Scenario {
  return {
    name,
    title: `\`${name}\``,
    group: "verbs",
    ...(name.startsWith("-") ? {} : { verb: name }),
    lines: ({ binary }) => ({ run: [`${binary} ${args}`] }),
    ...more,
  };
}

function runs(name: string, title: string, variant: Variant, more: Partial<Scenario> = {}): Scenario {
  return {
    name,
    title,
    group: "run",
    lines: (side) => ({ run: [`${side.command()} run -b ${side.bundle("true", variant)} r-${side.letter}-@`] }),
    ...more,
  };
}

function creates(name: string, title: string, variant: Variant, group: Scenario["group"]): Scenario {
  return {
    name,
    title,
    group,
    lines: (side) => ({
      run: [`${side.command()} create -b ${side.bundle("true", variant)} c-${side.letter}-@`],
      after: [`${side.command()} delete --force c-${side.letter}-@`],
    }),
  };
}

/** `list` with so many containers, which are created and never started. */
function lists(count: number): Scenario {
  const of = `list${count}`;
  return {
    name: `list-${count}`,
    title: `\`list\` of ${count.toLocaleString("en")} created containers`,
    group: "many",
    share: count > 100 ? 0.5 : 1,
    prepare: (side) => {
      crowd(2, 0, count, [`${side.command(of)} create -b ${side.crowdBundle("light", count)} list-${side.letter}-@`]);
    },
    lines: (side) => ({ run: [`${side.command(of)} list`] }),
  };
}

/** Removes the cached filters of a runtime. `?cache` instead of `@cache`, because pair.c replaces an @ by the number of the round. */
const forgetFilters = (side: Side) => `find ${side.root()} -mindepth 1 -maxdepth 1 -name ?cache -exec rm -rf {} +`;

const pidFile = ({ place, letter }: Side) => join(place.work, `pid-${letter}`);

export const SCENARIOS: readonly Scenario[] = [
  alive("state", (live) => `state ${live}`),
  alone("list", "", { lines: (side) => ({ run: [`${side.command()} list`] }), live: true }),
  creates("create", "`create`", "plain", "verbs"),
  {
    name: "start",
    title: "`start`",
    group: "verbs",
    lines: (side) => ({
      before: [`${side.command()} create -b ${side.bundle("true")} s-${side.letter}-@`],
      run: [`${side.command()} start s-${side.letter}-@`],
      after: [`${side.command()} delete --force s-${side.letter}-@`],
    }),
  },
  {
    name: "kill",
    title: "`kill`",
    group: "verbs",
    lines: (side) => ({
      before: [`${side.command()} run -d -b ${side.bundle("sleep")} k-${side.letter}-@`],
      run: [`${side.command()} kill k-${side.letter}-@ KILL`],
      after: [`${side.command()} delete --force k-${side.letter}-@`],
    }),
  },
  {
    name: "delete",
    title: "`delete`",
    group: "verbs",
    lines: (side) => ({
      before: [
        `${side.command()} run -d --pid-file ${pidFile(side)} -b ${side.bundle("sleep")} d-${side.letter}-@`,
        `${side.command()} kill d-${side.letter}-@ KILL`,
        `sh ${join(REPOSITORY, "bench/wait-end.sh")} ${pidFile(side)}`,
      ],
      run: [`${side.command()} delete d-${side.letter}-@`],
    }),
  },
  runs("run", "`run`", "plain", { group: "verbs" }),
  alive("exec", (live) => `exec ${live} /bin/true`),
  alive("ps", (live) => `ps --format json ${live}`),
  alive("update", (live) => `update --memory 100663296 ${live}`, { limits: true }),
  alive("pause", (live) => `pause ${live}`, {
    lines: (side) => ({ run: [`${side.command()} pause ${side.live}`], after: [`${side.command()} resume ${side.live}`] }),
  }),
  alive("resume", (live) => `resume ${live}`, {
    lines: (side) => ({ before: [`${side.command()} pause ${side.live}`], run: [`${side.command()} resume ${side.live}`] }),
  }),
  alive("events --stats", (live) => `events --stats ${live}`),
  alone("spec", "spec", {
    lines: (side) => {
      const bundle = join(side.place.work, `spec-${side.letter}`);
      mkdirSync(bundle, { recursive: true });
      return { before: [`rm -f ${bundle}/config.json`], run: [`${side.binary} spec -b ${bundle}`] };
    },
  }),
  alone("features", "features"),
  alone("--version", "--version"),

  runs("run-seccomp-warm", "`run`, an engine's seccomp profile, warm", "seccomp"),
  runs("run-seccomp-cold", "`run`, the same, cold", "seccomp", {
    lines: (side) => ({
      before: [forgetFilters(side)],
      run: [`${side.command()} run -b ${side.bundle("true", "seccomp")} r-${side.letter}-@`],
    }),
  }),
  creates("create-seccomp-warm", "`create`, the same, warm", "seccomp", "run"),
  runs("run-containerd", "`run`, containerd's bundle", "containerd"),
  creates("create-containerd", "`create`, containerd's bundle", "containerd", "run"),
  runs("run-userns", "`run`, user namespace", "userns"),
  runs("run-mounts", "`run`, 50 more mounts", "mounts"),
  runs("run-host-mounts", "`run`, 1,000 mounts on the host", "plain", { share: 0.5, surroundings: mountMany }),

  alive("exec-loop", () => "", {
    title: `\`exec\`, ${EXEC_LOOP} in a row`,
    group: "many",
    verb: "exec",
    share: 0.25,
    lines: (side) => ({ run: Array.from({ length: EXEC_LOOP }, () => `${side.command()} exec ${side.live} /bin/true`) }),
  }),
  lists(10),
  lists(1000),
];

/** Bind mounts of a tmpfs of one's own, in this mount namespace. */
function mountMany({ work }: Place): () => void {
  const directory = join(work, "host-mounts");
  mkdirSync(directory, { recursive: true });
  const script = join(work, "mount-many.sh");
  writeFileSync(
    script,
    `set -e; cd "$1"; mount -t tmpfs tmpfs "$1"; cd "$1"; i=0; while [ $i -lt ${HOST_MOUNTS} ]; do mkdir $i; mount --bind $i $i; i=$((i + 1)); done`,
  );
  execFileSync("sh", [script, directory], { stdio: "inherit" });
  return () => execFileSync("umount", ["-l", directory], { stdio: "inherit" });
}
