/** Why a field may be another one here, and why a file that Docker Compose takes is refused. What has no reason in these tables is a defect. */
import type { ComposeFile } from "../../src/pod/index.ts";
import type { Difference } from "./compare.ts";
import type { Context } from "./expected-files.ts";
import { fieldsOf, textsOf } from "./view.ts";

interface Reason {
  readonly field: RegExp;
  readonly why: string;
  /** Whether it is this difference, and no other one of the field. */
  readonly isIt: (difference: Difference, file: ComposeFile, context: Context) => boolean;
}

/** Whether the file is told that the field has no effect. */
const isTold = ({ service, field }: Difference, { warnings }: ComposeFile) =>
  warnings.some(({ pointer }) => `${pointer}/`.startsWith(`/services/${service}/${field.replace(/^other /, "")}/`));

const without = (value: unknown, end: RegExp) => JSON.stringify(textsOf(value).map((one) => one.replace(end, "")));

const REASONS: readonly Reason[] = [
  {
    field: /^other /,
    why: "it has no effect here, and is told of",
    isIt: isTold,
  },
  {
    field: /^ports$/,
    why: "no port of the host leads to an internal network, or to one that is the host's: it is told of",
    isIt: (one, file) => one.found === undefined && isTold(one, file),
  },
  {
    field: /^pull$/,
    why: "another service builds the image, so that no registry is asked",
    isIt: ({ found, service }, { builds, tasks }) =>
      found === "never" &&
      builds.some(({ request }) => tasks.find(({ name }) => name === service)?.containers[0]?.image === request.reference),
  },
  {
    field: /^depends_on$/,
    why: "services in one network namespace are containers of one task, which are restarted together",
    isIt: ({ expected, found }) => without(expected, / restart$/) === without(found, / restart$/),
  },
  {
    field: /^(?:dns|extra_hosts|hostname|sysctls|uts)/,
    why: "it belongs to the service whose network this one is in",
    isIt: ({ service, found }, _, { model }) =>
      found === undefined && /^(?:service|container):/.test(String(fieldsOf(model.services?.[service])["network_mode"])),
  },
];

/** undefined: there is none. */
export function reasonOf(difference: Difference, file: ComposeFile, context: Context): string | undefined {
  return REASONS.find(({ field, isIt }) => field.test(difference.field) && isIt(difference, file, context))?.why;
}

/** Messages of files that are refused here, and not by the oracle. */
const REFUSALS: readonly (readonly [message: RegExp, why: string])[] = [
  [/programs of others do not run services/, "providers are programs of Docker"],
  [/needs an image, a build, or its root file system/, "a service of a provider has no image"],
  [/models are not served/, "models are not served"],
  [/is made by others: only its name can be said here/, "what others have made cannot be described"],
  [/only host is supported: services have the users of the host/, "services have the users of the host"],
  [
    /to be the same in all services that share the network|what they use otherwise has to be of one of them/,
    "namespaces are of a task, whose containers share the network",
  ],
  [/only none, host, bridge, the name of a network, service:NAME/, "networks of other programs are not there"],
  [
    /only host, private, shareable, service:NAME and container:NAME|containers of others are not found/,
    "containers of other projects are not found",
  ],
  [
    /only bridge is supported|the engine names its bridges itself|networks have IPv4|one range of IPv4|needs the subnet of the network/,
    "networks are bridges with one range of IPv4",
  ],
  [/interfaces are eth0, eth1/, "interfaces are numbered"],
  [/steps of a build have no rights on the host/, "builds have no rights on the host"],
  [/only json-file, local, journald and none are supported/, "logs are sent elsewhere by others"],
  [/is no name of an image|names no image as its source|write oci:DIR/, "the name of an image has a variable that is not set"],
];

/** undefined: there is none. */
export function refusalOf(message: string): string | undefined {
  return REFUSALS.find(([pattern]) => pattern.test(message))?.[1];
}
