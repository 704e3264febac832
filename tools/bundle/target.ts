/** The machine that the build is for: this one, or that of RUNT_TARGET, a triplet of GNU such as aarch64-linux-gnu (`make arm64`). */
const MACHINES: Readonly<Record<string, string>> = { aarch64: "arm64", x86_64: "x64" };

export interface Target {
  /** As in Node's process.arch. */
  readonly architecture: string;
  /** The words before the name of a program of that machine: nothing, or an emulator. */
  readonly runner: readonly string[];
}

function target(triplet: string | undefined): Target {
  if (triplet === undefined || triplet === "") return { architecture: process.arch, runner: [] };
  const machine = triplet.split("-", 1)[0]!;
  const architecture = MACHINES[machine];
  if (architecture === undefined) throw new Error(`RUNT_TARGET=${triplet}: runt is built for ${Object.keys(MACHINES).join(" and ")}`);
  return { architecture, runner: [`qemu-${machine}-static`] };
}

export const TARGET: Target = target(process.env["RUNT_TARGET"]);
