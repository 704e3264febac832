/**
 * Entry of `bin/runtctl`. This module is evaluated at every start. command.ts and everything that it imports was evaluated when the engine image
 * was built (docs/decisions/0007-engine-image.md). It imports nothing else, because each imported name makes every start slower.
 */
import { runtctl } from "./command.ts";

runtctl();
