/** Every mutant of the engine, by row. */
import { AGENT_MUTANTS } from "./agents.ts";
import { HOST_MUTANTS } from "./host.ts";
import { IMAGE_MUTANTS } from "./images.ts";
import { MACHINE_MUTANTS } from "./machines.ts";
import { MODEL_MUTANTS } from "./model.ts";
import type { Mutant } from "./mutant.ts";
import { NETWORK_MUTANTS } from "./network.ts";
import { POD_FIELD_MUTANTS } from "./pod-fields.ts";
import { POD_MUTANTS } from "./pods.ts";
import { ROLLOUT_MUTANTS } from "./rollouts.ts";
import { SHARED_MUTANTS } from "./shared.ts";
import { VOLUME_MUTANTS } from "./volumes.ts";

export const ENGINE_MUTANTS: readonly Mutant[] = [
  ...MODEL_MUTANTS,
  ...HOST_MUTANTS,
  ...NETWORK_MUTANTS,
  ...IMAGE_MUTANTS,
  ...POD_MUTANTS,
  ...POD_FIELD_MUTANTS,
  ...AGENT_MUTANTS,
  ...SHARED_MUTANTS,
  ...MACHINE_MUTANTS,
  ...VOLUME_MUTANTS,
  ...ROLLOUT_MUTANTS,
];
