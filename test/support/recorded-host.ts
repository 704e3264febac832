/**
 * A host whose facts are recorded (test/fixtures/hosts/NAME.json, by `runt check -f json` there), and the plans it makes of some bundles
 * (NAME.BUNDLE.plan). The paths in them are the same on every machine.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, sampleConfig } from "./config.ts";
import { RUNTIME } from "./harness.ts";
import { REPOSITORY } from "./programs.ts";
import { randomConfig } from "./random-bundles.ts";

const PLACE = "/var/tmp/runt-recorded";
const HOSTS = join(REPOSITORY, "test/fixtures/hosts");
const ROOTFS = join(PLACE, "rootfs");

export const factsOf = (host: string): string => join(HOSTS, `${host}.json`);
export const planOf = (host: string, bundle: string): string => join(HOSTS, `${host}.${bundle}.plan`);
export const recordedPlan = (host: string, bundle: string): string => readFileSync(planOf(host, bundle), "utf8");

interface Recorded {
  readonly config: () => Config;
  readonly words?: readonly string[];
}

function sample(name: string, change: (config: Config) => void = () => {}): Recorded["config"] {
  return () => {
    const config = sampleConfig(name);
    config.root.path = ROOTFS;
    change(config);
    return config;
  };
}

const random = (seed: number) => () =>
  randomConfig(seed, {
    rootfs: ROOTFS,
    directory: join(PLACE, "directory"),
    file: join(PLACE, "file"),
    cgroupsPath: `/runt/random-${seed}`,
  });

const BUNDLES: Readonly<Record<string, Recorded>> = {
  hello: { config: sample("hello") },
  limited: { config: sample("limited") },
  containerd: { config: sample("containerd") },
  unit: {
    words: ["--systemd-cgroup"],
    config: sample("limited", (config) => {
      config.linux.cgroupsPath = "system.slice:runt:recorded";
    }),
  },
  random: { config: random(7) },
};

export const RECORDED = Object.keys(BUNDLES);

/** Bundles that bind files of the host. Their digest covers inodes, which recorded facts do not have. */
export const hasSources = (bundle: string): boolean =>
  BUNDLES[bundle]!.config().mounts.some(({ options = [] }) => options.some((word) => /^r?bind$/.test(word)));

/** Makes the bundles, calls the action, and removes them. */
export async function withRecordedBundles(action: () => Promise<void>): Promise<void> {
  // Exclusive: a test that runs at the same time would lose its bundles.
  mkdirSync(PLACE);
  try {
    mkdirSync(ROOTFS);
    mkdirSync(join(PLACE, "directory"));
    writeFileSync(join(PLACE, "file"), "");
    for (const [name, { config }] of Object.entries(BUNDLES)) {
      mkdirSync(join(PLACE, name));
      writeFileSync(join(PLACE, name, "config.json"), JSON.stringify(config()));
    }
    await action();
  } finally {
    rmSync(PLACE, { recursive: true, force: true });
  }
}

/** The command that prints the plan of a bundle, on this host or that of the facts in a file. */
export function planCommand(bundle: string, facts: string): string[] {
  const { words = [] } = BUNDLES[bundle]!;
  return [RUNTIME, "--root", "/run/runt-recorded", ...words, "plan", "--explain", "--host", facts, "-b", join(PLACE, bundle), "recorded"];
}

/** Without the lines of the digest. */
export const operationsOf = (plan: string): string => plan.replace(/^#.*\n/gm, "");
