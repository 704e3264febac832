import * as assert from "../assert.ts";
import { group } from "../group.ts";

export const oomScore = group("OOM", "oomScoreAdj", ({ must, should }) => {
  must(1, "oomScoreAdj is written for the program", async (c) => {
    const container = await c.start((config) => Object.assign(config.process, { oomScoreAdj: 321 }));
    assert.equal((await container.proc("oom_score_adj")).trim(), "321");
  });
  must(2, "without it the caller's value stays", async (c) => {
    const bundle = c.bundle((config) => {
      config.process.args = ["/bin/cat", "/proc/self/oom_score_adj"];
    });
    const { id } = c.container(bundle);
    const script = 'echo 123 > /proc/self/oom_score_adj && exec "$@"';
    assert.equal((await c.shell(script, ["run", "--bundle", bundle, id])).stdout.trim(), "123");
  });
  should(3, "a value outside -1000 to 1000 is refused", async (c) => {
    for (const oomScoreAdj of [1001, -1001])
      await c.refused((config) => Object.assign(config.process, { oomScoreAdj }), "/process/oomScoreAdj");
  });
});
