/**
 * Entry of `bin/runtctl`. This module is evaluated at every start; command.ts and all that it imports stand in the engine image as they are after their evaluation
 * (docs/decisions/0007-engine-image.md). It names nothing else: each name that it imports costs every start.
 */
import { runtctl } from "./command.ts";

runtctl();
