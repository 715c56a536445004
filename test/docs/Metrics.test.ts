import { assert, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { json, newPerson, publish } from "../support/Api.ts"
import { eventually } from "../support/Eventually.ts"
import { responseSeconds } from "../support/Program.ts"
import { TestServer } from "../support/Server.ts"
import { sourcesIn } from "../support/source.ts"

interface Declared {
  readonly name: string
  readonly kind: string
  readonly description: string
}

/** All metrics that the sources declare, sorted by name. */
const declared: ReadonlyArray<Declared> = sourcesIn("src").flatMap(({ text }) =>
  [...text.matchAll(/Metric\.(counter|gauge|histogram)\("(\w+)", \{\s*description:\s*"([^"]+)"/g)].map((
    [, kind = "", name = "", description = ""]
  ) => ({ kind, name, description }))
).toSorted((a, b) => a.name < b.name ? -1 : 1)

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const read = (name: string) => readFileSync(path(name), "utf8")

/** Expressions of the dashboard and of the alerts. */
const queries: ReadonlyArray<string> = [
  ...[...read("ops/monitoring/alerts.yaml").matchAll(/^\s+expr: (.*)$/gm)].map(([, text = ""]) => text),
  ...[...read("ops/monitoring/grafana.json").matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) =>
    text.replaceAll("\\\"", "\"")
  )
]

/** Returns the names of the metrics in an expression, without the suffixes of a histogram's series. */
const namesIn = (query: string) =>
  [...query.matchAll(/\b(?:murmuration|nodejs|process)_\w+/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, "")
  )

/** Returns the labels in an expression, each with its metric's name. */
const labelsIn = (query: string) =>
  [...query.matchAll(/\b((?:murmuration|nodejs|process)_\w+)\{([^}]*)\}/g)].flatMap(([, name = "", labels = ""]) =>
    [...labels.matchAll(/(\w+)=~?"/g)].map(([, label = ""]) => [name, label] as const)
  ).filter(([, label]) => label !== "job" && label !== "le")

/**
 * Returns the number of commands that a scrape counts as taken from mailboxes, and the sum of their waits in seconds.
 */
const waitsIn = (text: string) => {
  const figure = (name: string) =>
    Number(new RegExp(`^murmuration_mailbox_wait_seconds_${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0)
  return { count: figure("count"), sum: figure("sum") }
}

layer(TestServer.layer(), { excludeTestServices: true })("metrics", (it) => {
  it.effect("docs/metrics.md equals the output of `npm run docs:metrics`; names have a unit or mark a count", () =>
    Effect.gen(function*() {
      const all = sourcesIn("src").reduce(
        (sum, { text }) => sum + text.split(/Metric\.(?:counter|gauge|histogram)\("/).length - 1,
        0
      )
      assert.strictEqual(declared.length, all, "each has a description")
      for (const { kind, name } of declared) {
        assert.strictEqual(kind === "counter", name.endsWith("_total"), name)
        if (kind === "histogram") assert.match(name, /_(seconds|bytes)$/)
      }
      const page = `# Metrics

\`GET /metrics\` has these in Prometheus' text format, for collectors on the same machine or a private network. Figures of the whole
server are the same on every node: take \`max\` of them, not \`sum\`. \`ops/monitoring/\` has alerts for Prometheus and a board for
Grafana. \`npm run docs:metrics\` writes this page from the sources.

| Name | Kind | Meaning |
|---|---|---|
${declared.map(({ description, kind, name }) => `| \`${name}\` | ${kind} | ${description} |`).join("\n")}
`
      yield* Effect.promise(() => expect(page).toMatchFileSnapshot(path("docs/metrics.md")))
    }))

  it.effect("a running server has every metric and label of the alerts and the dashboard", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const scrape = Effect.flatMap(fetch("/metrics"), (response) => Effect.promise(() => response.text()))
      const [ada, bob] = [yield* newPerson("ada"), yield* newPerson("bob")]
      const before = waitsIn(yield* scrape)
      yield* json(bob, `/api/v1/accounts/${ada.accountId}/follow`, {})
      yield* publish(ada, "counted")
      yield* fetch("/nothing")
      const text = yield* eventually(
        scrape,
        (found) => found.includes("murmuration_fanout_seconds_count") && found.includes("murmuration_users")
      )
      const known = new Set(declared.map(({ name }) => name))
      /** Metrics whose series appear with their first event, such as a delivery. */
      const lazy = new Set(declared.filter(({ kind }) => kind !== "gauge").map(({ name }) => name))
      const served = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = ""]) => name))
      assert.isAbove(queries.length, 25)
      for (const query of queries) {
        for (const name of namesIn(query)) {
          assert.isTrue(known.has(name), `${name} of ${query}`)
          assert.isTrue(served.has(name) || lazy.has(name) || name === "murmuration_redis_up", `${name} is served`)
        }
        for (const [name, label] of labelsIn(query)) {
          const series = text.split("\n").filter((line) => line.startsWith(`${name}{`))
          assert.isTrue(
            series.length === 0 || series.some((line) => line.includes(`${label}="`)),
            `${label} of ${name}`
          )
        }
      }
      assert.match(text, /^murmuration_postgres_up 1$/m)
      assert.match(text, /^murmuration_users\{active="all"\} 2$/m)
      assert.match(text, /^murmuration_http_requests_total\{(?=[^}]*path="pages")[^}]*status="4xx"[^}]*\} \d+$/m)
      assert.match(text, /^murmuration_http_request_seconds_bucket\{(?=[^}]*path="api")[^}]*\} \d+$/m)
      assert.match(text, /^murmuration_actors_awake \d+$/m)
      assert.match(text, /^murmuration_mailbox_commands 0$/m)
      // Earlier tests' servers in this process count, too.
      const after = waitsIn(text)
      const commands = after.count - before.count
      assert.isAtLeast(commands, 2, "a follow and a post")
      assert.isAtMost(after.sum - before.sum, commands * responseSeconds, "a later command is refused")
      assert.match(text, /^murmuration_postgres_slow_statements \d+$/m)
      assert.match(text, /^murmuration_postgres_response_seconds [\d.e-]+$/m)
      assert.match(text, /^murmuration_work_waiting\{kind="fanouts"\} \d+$/m)
    }))

  it("promtool, if it is installed, accepts the alerts, and fires that of a failing archive after 15 minutes", ({ annotate }) => {
    for (
      const args of [["check", "rules", "ops/monitoring/alerts.yaml"], ["test", "rules", "test/docs/alertCases.yaml"]]
    ) {
      const { error, status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8", cwd: path(".") })
      if (error !== undefined) return void annotate("promtool is not installed")
      assert.strictEqual(status, 0, stdout + stderr)
    }
  })
})
