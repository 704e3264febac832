/** One configuration becomes two: what is done on the host, and what in the machine. */
import type { KeptMachine } from "../../config/index.ts";
import { printJson, type Spec } from "../../spec/index.ts";
import { annotationWarnings, withAnnotations } from "../asked/annotations.ts";
import { podPart } from "../asked/pod.ts";
import { chooseSettings, type MachineSettings } from "../asked/settings.ts";
import { type DeviceFindings, deviceParts } from "./devices.ts";
import { guestSpec, sharedOf } from "./guest.ts";
import { type HostParts, hostSpec } from "./host.ts";
import { bootingParts, joiningParts, type SandboxMachine } from "./parts.ts";
import { emulationWarning, refuseUnsupported, type SideWarning, warningsOf } from "./refuse.ts";
import { mountPoints, splitMounts } from "./volumes.ts";

export interface Sides {
  readonly host: Spec;
  readonly guest: Spec;
  /** What later verbs have to know. */
  readonly machine: KeptMachine;
  readonly warnings: readonly SideWarning[];
}

export interface SplitInput extends Pick<HostParts, "runt">, DeviceFindings {
  readonly id: string;
  /** A path of the configuration as an absolute one: relative ones start in the bundle. */
  readonly inBundle: (path: string) => string;
  readonly settings: MachineSettings;
  /** Size of the pod's /dev/shm; undefined: nothing says it. */
  readonly sharedMemoryKiB?: number;
  /** The host has /dev/kvm. */
  readonly hasKvm?: boolean;
  /** KVM was tried, and has booted no guest. */
  readonly kvmFails?: boolean;
  /** The machine that it joins; without one it has a machine of its own. */
  readonly sandbox?: SandboxMachine;
}

/** @throws RuntError not-supported or config-invalid, with a pointer */
export function splitSpec(spec: Spec, input: SplitInput): Sides {
  const { id, inBundle, runt, sandbox, hasKvm = false, kvmFails } = input;
  refuseUnsupported(spec, sandbox);
  // The machine of a pod is as its sandbox has asked for it.
  const settings = sandbox ? input.settings : withAnnotations(spec, chooseSettings(spec, input.settings));
  const inPod = sandbox !== undefined || podPart(spec.annotations) !== undefined;
  const { disks, modules, sources } = deviceParts(spec, inBundle, input);
  const { mounts, volumes } = splitMounts(spec.mounts ?? [], sources, sharedOf(sandbox && id), inPod, inBundle);
  const guest = guestSpec(spec, mounts, sandbox && [id, sandbox]);
  const rootfs = inBundle(spec.root?.path ?? "");
  const asked = {
    ...{ id, rootfs, mountPoints: spec.root?.readonly === true ? mountPoints(spec.mounts ?? [], inBundle) : [] },
    ...{ config: printJson(guest), modules, disks, terminal: spec.process?.terminal ?? false, seconds: settings.bootSeconds },
  };
  const { machine, ...parts } = sandbox ? joiningParts(spec, asked, sandbox) : bootingParts(spec, asked, settings, input);
  return {
    host: hostSpec(spec, { settings, runt, rootfs, volumes, ...parts }),
    guest,
    machine,
    warnings: [...warningsOf(spec), ...(sandbox ? [] : [...annotationWarnings(spec), ...emulationWarning(settings, hasKvm, kvmFails)])],
  };
}
