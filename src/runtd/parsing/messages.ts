/** What the daemon and the thread that parses say to each other. */
import type { ParsedFile } from "../../engine/index.ts";
import type { ClusterPod, ClusterRules, PodHost } from "../../pod/index.ts";

export type Question = ({ readonly text: string } | { readonly pod: ClusterPod; readonly rules: ClusterRules }) & {
  readonly host: PodHost;
};

export type Answer = { readonly parsed: ParsedFile } | { readonly failure: string };
