import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseFile } from "../index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 2 ** 33, credentials: ["default", "mine"] };
const read = (names: string, before = "", host = {}) => {
  const text = `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  imagePullSecrets: [${names}]\n  containers: [{ name: a, image: r.example/x:1 }]\n`;
  const { tasks, findings, warnings = [] } = parseFile(before + text, { ...HOST, ...host });
  expect(findings).toEqual([]);
  return { used: tasks[0]!.containers[0]!.pullCredentials, warned: warnings.map((one) => renderFinding(one, "f")) };
};
const SECRET =
  "apiVersion: v1\nkind: Secret\nmetadata: { name: regcred }\ntype: kubernetes.io/dockerconfigjson\ndata: { .dockerconfigjson: e30= }\n---\n";

/** Source: kubelet, getPullSecretsForPod: a Secret that does not exist is an event, and images are pulled without it. */
test("credentials of the host by their name; those that it does not have are told of, and the default ones are used", () => {
  expect(read("{ name: mine }")).toEqual({ used: "mine", warned: [] });
  expect(read("{ name: regcred }")).toEqual({
    used: undefined,
    warned: [
      "f:5:22: /spec/imagePullSecrets/0: has no effect: images are pulled with the default credentials of the host, if it has any; runtd --credentials regcred=file:FILE gives it a set of this name",
    ],
  });
  expect(read("{ name: registry.example.com }, { name: mine }")).toEqual({
    used: "mine",
    warned: ["f:5:22: /spec/imagePullSecrets/0: has no effect: images are pulled with the credentials mine of the host"],
  });
});

test("a Secret of the file is not used, and that is told, whatever the host has", () => {
  expect(read("{ name: regcred }", SECRET).warned).toEqual([
    "f:11:22: /spec/imagePullSecrets/0: the Secret is not used: images are pulled with the default credentials of the host, if it has any; runtd --credentials regcred=file:FILE gives it a set of this name",
  ]);
  expect(read("{ name: regcred }", SECRET, { credentials: ["regcred"] })).toEqual({
    used: "regcred",
    warned: [
      "f:11:22: /spec/imagePullSecrets/0: the Secret is not used: images are pulled with the credentials of the host that have this name",
    ],
  });
});

test("without a daemon the names are not known", () => {
  expect(read("{ name: regcred }", "", { credentials: undefined })).toEqual({ used: "regcred", warned: [] });
});
