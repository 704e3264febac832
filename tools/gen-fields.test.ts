import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { refused } from "../src/pod/schema/field.ts";
import { FIELD_PAGES, fieldsOf } from "./gen-fields.ts";

const read = (path: string) => readFileSync(join(fileURLToPath(new URL("../", import.meta.url)), path), "utf8");

test.each([...FIELD_PAGES])("%s is what the schemas have (tools/gen-fields.ts)", (path, page) => {
  expect(read(path)).toBe(page());
});

test("fields in lists, maps and alternatives are found, also behind defaults and changes, and what is refused says why", () => {
  const schema = z.strictObject({
    plain: z.string().optional(),
    list: z.array(z.union([z.string(), z.strictObject({ inner: z.enum(["a", "b"]) })])).default([]),
    map: z.record(
      z.string(),
      z.preprocess((given) => given, z.strictObject({ flag: z.boolean() })),
    ),
    no: refused("never"),
    known: z.strictObject({ hidden: z.string() }),
  });
  expect(fieldsOf(schema, new Map([["known", "as elsewhere"]]))).toEqual([
    { path: "plain", values: "text", refusal: "" },
    { path: "list", values: "list of texts, fields", refusal: "" },
    { path: "list[].inner", values: "`a`, `b`", refusal: "" },
    { path: "map", values: "map", refusal: "" },
    { path: "map.*.flag", values: "`true`, `false`", refusal: "" },
    { path: "no", values: "", refusal: "never" },
    { path: "known", values: "as elsewhere", refusal: "" },
  ]);
});

/** Names of compose-spec.json of November 2026, "service". */
const OF_SPECIFICATION =
  `annotations attach blkio_config build cap_add cap_drop cgroup cgroup_parent command configs container_name cpu_count cpu_percent
  cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset credential_spec depends_on deploy develop device_cgroup_rules devices dns dns_opt
  dns_search domainname entrypoint env_file environment expose extends external_links extra_hosts gpus group_add healthcheck hostname image init ipc isolation
  label_file labels links logging mac_address mem_limit mem_reservation mem_swappiness memswap_limit models network_mode networks oom_kill_disable
  oom_score_adj pid pids_limit platform ports post_start pre_start pre_stop privileged profiles provider pull_policy pull_refresh_after read_only restart
  runtime scale secrets security_opt shm_size stdin_open stop_grace_period stop_signal storage_opt sysctls tmpfs tty ulimits use_api_socket user userns_mode
  uts volumes volumes_from working_dir`.split(/\s+/);

test("every field of a service in the specification has a row, and the page of the engine says what it does unless the row does", () => {
  const [, page = ""] = /\n## Services\n(.*?)\n## /s.exec(read("docs/engine/compose-fields.md")) ?? [];
  const rows = new Map([...page.matchAll(/^\| `([a-z_]+)` \|.*\| ?(.*) \|$/gm)].map(([, name = "", why = ""]) => [name, why]));
  expect(OF_SPECIFICATION.filter((name) => !rows.has(name))).toEqual([]);
  const said = new Set([...read("docs/engine/compose.md").matchAll(/`([a-z_]+)[^`]*`/g)].map(([, name]) => name));
  expect(OF_SPECIFICATION.filter((name) => rows.get(name) === "" && !said.has(name))).toEqual([]);
});
