/** How long tests wait for what has to come about. The bound is for what never comes: a busy machine may need a hundred times what a quiet one does. */

/** How much slower than usual the machine is: an emulated one sets it. */
export const SLOW = Number(process.env["RUNT_TEST_SLOW"] ?? 1);

export const PATIENCE_MS = 60_000 * SLOW;
