/** What the headers are made from; the test makes them from a changed copy. */
import type * as protocol from "../../src/shared/protocol/index.ts";

export type Protocol = typeof protocol;
