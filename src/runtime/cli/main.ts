/**
 * Entry of `bin/runt`. This module is evaluated at every start; program.ts and all that it imports stand in the engine image as they are after
 * their evaluation (docs/decisions/0007-engine-image.md). It names nothing else: each name that it imports costs every start.
 */
import { runt } from "./program.ts";

runt();
