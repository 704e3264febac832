/** What a pod asks of its machine by annotations of Kata Containers (src/runtime/config/cri/kata.ts), within what the operator allows. */
import { type FoundKata, isRefused, kataAnnotations } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { pointerToken, type Spec } from "../../spec/index.ts";
import { CACHES, chooseImage, chooseProgram, kernelParameters, type MachineSettings, type OwnSize } from "./settings.ts";

export interface AnnotationWarning {
  readonly pointer: string;
  readonly message: string;
}

/** Names the annotations that have no effect. */
export function annotationWarnings({ annotations }: Pick<Spec, "annotations">): AnnotationWarning[] {
  return kataAnnotations(annotations).flatMap((found) =>
    found.use === "unused" ? [{ pointer: at(found), message: `${found.key} has no effect: ${found.text}` }] : [],
  );
}

/** Applies the annotations to the settings. @throws RuntError not-supported: refused, or not allowed by the operator; config-invalid: the value is none */
export function withAnnotations({ annotations }: Pick<Spec, "annotations">, settings: MachineSettings): MachineSettings {
  return kataAnnotations(annotations).reduce(applied, settings);
}

function applied(settings: MachineSettings, found: FoundKata): MachineSettings {
  if (found.use === "unused") return settings;
  if (isRefused(found)) throw refuse(found, found.text);
  if (found.use === "refused") return settings;
  if (found.use === "allowed" && !settings.allow.annotations.includes(found.name))
    throw refuse(found, `the operator's configuration does not allow it (allow.annotations)`);
  return { ...settings, ...EFFECTS[found.name]!(found, settings) };
}

type Effect = (found: FoundKata, settings: MachineSettings) => Partial<MachineSettings>;

const EFFECTS: Readonly<Record<string, Effect>> = {
  default_vcpus: (found, settings) => own(settings, { cpus: number(found, /^\d+(\.\d+)?$/, 0) }),
  default_max_vcpus: (found, settings) => own(settings, { cpusMost: number(found, /^\d+$/, 1) }),
  default_memory: (found, settings) => own(settings, { memoryMiB: number(found, /^\d+$/, 1) }),
  kernel_params: (found, settings) => ({
    kernelParameters: [
      ...settings.kernelParameters,
      ...kernelParameters(found.value.split(/\s+/).filter(Boolean), (what) => wrong(found, what)),
    ],
  }),
  virtio_fs_cache: (found) => {
    if (!CACHES.includes(found.value as MachineSettings["fileCache"])) throw wrong(found, `use ${CACHES.join(", ")}`);
    return { fileCache: found.value as MachineSettings["fileCache"] };
  },
  kernel: (found, settings) => ({ image: chooseImage(found.value, settings, at(found)) }),
  path: (found, settings) => ({ hypervisor: chooseProgram(found.value, settings, at(found)) }),
  create_container_timeout: (found, settings) => ({ bootSeconds: Math.min(settings.bootSeconds, number(found, /^\d+$/, 1)) }),
};

function own({ own: before }: MachineSettings, size: OwnSize): Pick<MachineSettings, "own"> {
  return { own: { ...before, ...size } };
}

function number(found: FoundKata, form: RegExp, least: number): number {
  const value = Number(found.value);
  if (!form.test(found.value) || value < least || value > Number.MAX_SAFE_INTEGER) throw wrong(found, `use a number of at least ${least}`);
  return value;
}

function at({ key }: FoundKata): string {
  return `/annotations/${pointerToken(key)}`;
}

function refuse(found: FoundKata, why: string): RuntError {
  return new RuntError("not-supported", `a machine cannot have the annotation ${found.key}: ${why}`, { pointer: at(found) });
}

function wrong(found: FoundKata, what: string): RuntError {
  return new RuntError("config-invalid", `${found.key} is ${JSON.stringify(found.value)}: ${what}`, { pointer: at(found) });
}
