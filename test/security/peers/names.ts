/** The engines that are attacked beside runtd, and what can come of it. */
export const PEERS = ["Podman", "Docker"] as const;
export type PeerName = (typeof PEERS)[number];

/** What came of an attack. "in part": some of what the row names succeeds; the detail says what. */
export interface Finding {
  readonly word: "held" | "in part" | "**succeeds**" | "no counterpart";
  readonly detail: string;
}
