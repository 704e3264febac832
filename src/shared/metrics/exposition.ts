/** Metrics in the text format of Prometheus (exposition format 0.0.4). Pure. */

export interface Sample {
  readonly name: string;
  readonly type: "counter" | "gauge" | "summary";
  readonly help: string;
  readonly values: readonly {
    /** Suffix of a summary's sample: `_sum`, `_count`. */
    readonly suffix?: "_sum" | "_count";
    readonly labels?: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

export function exposition(samples: readonly Sample[]): string {
  return samples
    .map(({ name, type, help, values }) => {
      const lines = values.map(({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${value}`);
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
    })
    .join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([key, value]) => `${key}="${value.replace(/[\\"\n]/g, (one) => (one === "\n" ? "\\n" : `\\${one}`))}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
