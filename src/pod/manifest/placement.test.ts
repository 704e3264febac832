import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseFile } from "../index.ts";

const HOST = { name: "node-1", architecture: "amd64", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/i" };
const pod = (fields: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  ${fields}\n  containers: [{ name: a, image: x:1 }]\n`;
const told = (fields: string, host = {}) => {
  const { findings, warnings = [] } = parseFile(pod(fields), { ...HOST, ...host });
  return [findings, warnings].map((all) => all.map((one) => renderFinding(one, "f")));
};

const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const nodes = (expression: string) => `affinity: { nodeAffinity: { ${required}: { nodeSelectorTerms: [${expression}] } } }`;
const term = (key: string, operator: string, values = "[]") =>
  `{ matchExpressions: [{ key: ${key}, operator: ${operator}, values: ${values} }] }`;
const spread = (fields: string) => `topologySpreadConstraints: [{ maxSkew: 1, ${fields} }]`;

/** Source: Kubernetes, "Assigning Pods to Nodes", "Pod Topology Spread Constraints", "Well-Known Labels". */
test.each([
  [`affinity: { nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {} }`],
  [`affinity: { nodeAffinity: { ${preferred}: [{ weight: 1, preference: ${term("disk", "In", "[ssd]")} }] } }`],
  [`affinity: { podAntiAffinity: { ${preferred}: [{ weight: 100, podAffinityTerm: { topologyKey: zone } }], ${required}: [] } }`],
  [nodes(term("kubernetes.io/arch", "In", "[arm64, amd64]"))],
  [nodes(`${term("disk", "Exists")}, ${term("disk", "DoesNotExist")}`)],
  [nodes("{ matchFields: [{ key: metadata.name, operator: In, values: [node-1] }] }")],
  ["nodeSelector: { kubernetes.io/os: linux, kubernetes.io/arch: amd64, kubernetes.io/hostname: node-1 }"],
  [spread("topologyKey: zone, whenUnsatisfiable: ScheduleAnyway")],
  [spread("topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, minDomains: 1")],
  ['nodeName: ""'],
])("what this host satisfies as the only node is accepted: %s", (fields) => expect(told(fields)).toEqual([[], []]));

test.each([
  [`affinity: { podAntiAffinity: { ${required}: [{ topologyKey: kubernetes.io/hostname }] } }`, "affinity"],
  [nodes(term("kubernetes.io/arch", "NotIn", "[amd64]")), "affinity"],
  [nodes(term("size", "Gt", '["3"]')), "affinity"],
  [nodes("{}"), "affinity"],
  ["nodeSelector: { kubernetes.io/arch: arm64 }", "nodeSelector"],
  ["nodeSelector: { kubernetes.io/hostname: other }", "nodeSelector"],
  [spread("topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule"), "topologySpreadConstraints"],
  [spread("topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, minDomains: 2"), "topologySpreadConstraints"],
])("what it does not satisfy is refused, or left out with the flag: %s", (fields, field) => {
  const why = "there is one host, and nothing to choose from";
  expect(told(fields)).toEqual([[`f:5:3: /spec/${field}: is not supported: ${why}; --ignore-cluster-fields leaves it out`], []]);
  expect(told(fields, { ignoresClusterFields: true })).toEqual([[], [`f:5:3: /spec/${field}: is left out: ${why}`]]);
});

test("without a daemon the architecture is not known, and any is accepted", () => {
  expect(told("nodeSelector: { kubernetes.io/arch: arm64 }", { architecture: undefined })).toEqual([[], []]);
});

test("the priority classes that each cluster has are accepted, and their missing effect is told", () => {
  expect(told("priorityClassName: system-node-critical\n  priority: 2000001000")).toEqual([
    [],
    ["f:5:3: /spec/priorityClassName: has no effect: pods start in the order in which they were applied"],
  ]);
});

test("a misspelt field hides no refusal of the placement, in a pod and in a template", () => {
  const refused = [
    expect.stringMatching(/^f:5:3: \/spec\/nodeSelector: is not supported: /),
    expect.stringContaining('the field "hostnme" is not supported'),
  ];
  expect(told("nodeSelector: { a: b }\n  hostnme: c")[0]).toEqual(refused);
  const template = `apiVersion: v1\nkind: ReplicationController\nmetadata: { name: a }\nspec:\n  template:\n    metadata: { labels: { app: a } }\n    spec: { nodeSelector: { a: b }, hostnme: c, containers: [{ name: a, image: x:1 }] }\n`;
  expect(parseFile(template, HOST).findings.map((one) => renderFinding(one, "f"))).toEqual([
    expect.stringContaining("/spec/template/spec/nodeSelector: is not supported: "),
    expect.stringContaining('the field "hostnme" is not supported'),
  ]);
  expect(told("nodeSelector: { a: 1 }")[0]).toHaveLength(1);
});

/** Source: Kubernetes, pkg/apis/core/validation. */
test.each([
  [nodes("{ matchExpressions: [{ key: a, operator: NotIn }] }"), "values: NotIn needs at least one value"],
  [nodes(term("a", "Exists", "[b]")), "values: Exists needs no value"],
  [nodes(term("a", "Gt", "[1, 2]").replace("[1, 2]", "['1', '2']")), "values: Gt needs one value"],
  [nodes("{ matchFields: [{ key: metadata.uid, operator: In, values: [x] }] }"), "has to be the field metadata.name"],
  [spread("topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 1"), "minDomains: is of DoNotSchedule only"],
  [spread("topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [a]"), "matchLabelKeys: needs a labelSelector"],
  [
    "topologySpreadConstraints: [{ maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway }, { maxSkew: 2, topologyKey: z, whenUnsatisfiable: ScheduleAnyway }]",
    "twice",
  ],
])("what an API server refuses of a placement is refused: %s", (fields, message) =>
  expect(told(fields)[0]).toEqual([expect.stringContaining(message)]),
);
