import type { Spec } from "../../spec/index.ts";
import type { Report } from "../finding.ts";
import type { ContainerFiles } from "./container-files.ts";
import type { BundleView } from "./view.ts";

/** What a check of the host has before it. */
export interface HostInput {
  readonly view: BundleView;
  /** The files as the container would see them; undefined without a root filesystem to look at. */
  readonly files?: ContainerFiles;
}

/** Like Check, with the host beside the configuration. */
export type HostCheck = (spec: Spec, report: Report, input: HostInput) => void;
