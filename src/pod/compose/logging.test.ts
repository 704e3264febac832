/** Logs of services for external receivers. Comments give the output of `docker compose config` 2.40.3 for the same inputs. */
import { expect, test } from "vitest";
import { container, one, read, told } from "../../../test/support/engine/compose-file.ts";

const warned = (text: string) => read(text).warnings.map(({ pointer, message }) => `${pointer}: ${message}`);

/** Options are printed unchanged. */
test("logging: receivers of others, with the ports that their protocols have; what only says how Docker waits is told of", () => {
  const receiver = (driver: string, options: string) => container(`    logging: { driver: ${driver}, options: { ${options} } }\n`).log;
  expect(receiver("syslog", "syslog-address: 'udp://192.0.2.5', syslog-facility: 16, tag: '{{.Name}}'")).toEqual({
    receiver: { protocol: "syslog", address: "udp://192.0.2.5:514", facility: "local0", tag: "{{.Name}}" },
  });
  expect(receiver("syslog", "syslog-address: 'tcp://[::1]', syslog-format: rfc5424micro")).toEqual({
    receiver: { protocol: "syslog", address: "tcp://[::1]:514", format: "rfc5424micro" },
  });
  expect(receiver("gelf", "gelf-address: 'udp://h:12201', gelf-compression-type: none")).toEqual({
    receiver: { protocol: "gelf", address: "udp://h:12201", compression: "none" },
  });
  expect(container("    logging: { driver: fluentd }\n").log).toEqual({
    receiver: { protocol: "fluentd", address: "tcp://127.0.0.1:24224" },
  });
  expect(receiver("fluentd", "fluentd-address: 'log.example', fluentd-sub-second-precision: 'true'")).toEqual({
    receiver: { protocol: "fluentd", address: "tcp://log.example:24224", precise: true },
  });
  expect(receiver("fluentd", "fluentd-address: 'unix:///run/f.sock'")).toMatchObject({ receiver: { address: "unix:///run/f.sock" } });
  expect(warned(one("    logging: { driver: fluentd, options: { fluentd-async: 'true' } }\n"))).toEqual([]);
  expect(warned(one("    logging: { driver: fluentd, options: { fluentd-async: 'false', fluentd-buffer-limit: 1 } }\n"))).toEqual([
    "/services/web/logging/options/fluentd-async: has no effect: what is not sent yet waits in the files of the log",
    "/services/web/logging/options/fluentd-buffer-limit: has no effect: what is not sent yet waits in the files of the log",
  ]);
  expect(receiver("fluentd", "fluentd-request-ack: 'true'")).toMatchObject({ receiver: { ack: true } });
});

test("fluentd: labels and variables of the service are fields of its records", () => {
  const service = "    labels: { team: shop }\n    environment: { STAGE: test, OTHER: x }\n";
  const options = (text: string) => `${service}    logging: { driver: fluentd, options: { ${text} } }\n`;
  expect(container(options("labels: 'team', env: 'STAGE, GONE'")).log).toMatchObject({
    receiver: { fields: { team: "shop", STAGE: "test" } },
  });
  expect(warned(one(options("env: 'GONE'")))).toEqual([
    "/services/web/logging/options/env: GONE is not said by the service: what the image says is not sent",
  ]);
  expect(told(one(options("env-regex: '^A'")))[0]).toContain("is not supported: name them in env");
});

test.each([
  ["logging: { driver: syslog }", "logging", "needs syslog-address: to the log of this host leads the driver journald"],
  ["logging: { driver: gelf }", "logging", "needs gelf-address"],
  ["logging: { driver: syslog, options: { syslog-address: 'tcp+tls://h:1' } }", "logging/options/syslog-address", "write tcp://HOST:PORT"],
  [
    "logging: { driver: syslog, options: { syslog-address: 'udp://h', syslog-tls-cert: /c } }",
    "logging/options/syslog-tls-cert",
    "TLS is not supported",
  ],
  [
    "logging: { driver: syslog, options: { syslog-address: 'udp://h', syslog-facility: 99 } }",
    "logging/options/syslog-facility",
    "is no facility",
  ],
  ["logging: { driver: syslog, options: { syslog-address: 'udp://h', tag: '{{.Env}}' } }", "logging/options/tag", "has only {{.WORD}}"],
  ["logging: { driver: fluentd, options: { fluentd-address: 'tls://h:1' } }", "logging/options/fluentd-address", "write tcp://HOST:PORT"],
])("%s is refused at %s", (field, pointer, message) => {
  expect(told(one(`    ${field}\n`))).toEqual([expect.stringContaining(`/services/web/${pointer}: `)]);
  expect(told(one(`    ${field}\n`))[0]).toContain(message);
});
