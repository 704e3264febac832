import { describe, expect, it } from "vitest";
import { exposition, guestNumbers, guestSamples } from "./index.ts";

describe("what a guest says of itself", () => {
  it("is taken as numbers under known names only", () => {
    const text = JSON.stringify({
      ...{ memory_total_bytes: 1024, uptime_seconds: 1.5, "cpu_seconds_total.user": 2 },
      ...{ 'a"b\n} 1\nrunt_machine_guest_up{machine="other"}': 1, __proto__: 1, memory_free_bytes: "1", forks_total: -1, "load.1": null },
    });
    expect(guestNumbers(text)).toEqual({ memory_total_bytes: 1024, uptime_seconds: 1.5, "cpu_seconds_total.user": 2 });
    expect(guestNumbers('{"forks_total":1e999,"load.1":1}')).toEqual({ "load.1": 1 });
  });

  it.each(["", "nothing", "[1]", "null", '"text"', "{", "1"])("is nothing where it is %j", (text) => {
    expect(guestNumbers(text)).toBeUndefined();
  });

  it("becomes metrics with the host's words", () => {
    const reports = [
      { labels: { machine: 'w"eb' }, numbers: { uptime_seconds: 3, "cpu_seconds_total.user": 2, "cpu_seconds_total.idle": 1 } },
      { labels: { machine: "silent" }, numbers: undefined },
    ];
    const lines = exposition(guestSamples(reports)).split("\n");
    expect(lines.filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
      'runt_machine_guest_up{machine="w\\"eb"} 1',
      'runt_machine_guest_up{machine="silent"} 0',
      'runt_machine_guest_uptime_seconds{machine="w\\"eb"} 3',
      'runt_machine_guest_cpu_seconds_total{machine="w\\"eb",mode="user"} 2',
      'runt_machine_guest_cpu_seconds_total{machine="w\\"eb",mode="idle"} 1',
    ]);
    expect(lines).toContain("# TYPE runt_machine_guest_cpu_seconds_total counter");
    expect(guestSamples([])).toEqual([]);
  });
});
