import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Random, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../../src/layers/Database.ts"
import { type AccountId, idAt } from "../../../src/services/database/Ids.ts"
import { StatusIndex } from "../../../src/services/search/StatusIndex.ts"
import { StatusSearch } from "../../../src/services/search/StatusSearch.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { counting } from "../../support/StatementCounter.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { find, indexable, indexed, layerSearch, written } from "./Searching.ts"

layer(layerSearch, { excludeTestServices: true })("the index of posts", (it) => {
  it.effect("F99: without pending posts, a step is one statement and no transaction", () =>
    Effect.gen(function*() {
      yield* indexed
      const { statements, url } = yield* counting((yield* TestDatabase).url)
      const { step } = yield* Layer.build(
        Layer.fresh(StatusIndex.layer).pipe(Layer.provide(Database.client({ url: Redacted.make(url) })))
      ).pipe(Effect.map(Context.get(StatusIndex)))
      assert.isFalse(yield* step)
      const before = statements()
      assert.isFalse(yield* step)
      assert.strictEqual(statements() - before, 1)
    }))

  it.effect("I10: follows edits; a deleted status leaves no trace, even while it is being indexed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("editor")
      const id = yield* status(author, "a persimmon")
      assert.deepStrictEqual(yield* find(author, "persimmon"), [id])
      yield* sql`UPDATE statuses SET html = '<p>a fig</p>', edited_at = '2026-01-01' WHERE id = ${id}`
      assert.deepStrictEqual(yield* find(author, "persimmon"), [])
      assert.deepStrictEqual(yield* find(author, "fig"), [id])
      const rows =
        sql`SELECT FROM search_documents WHERE status_id = ${id} UNION ALL SELECT FROM search_queue WHERE status_id = ${id}`
      yield* sql`INSERT INTO search_queue (status_id) VALUES (${id})`
      const { step } = yield* StatusIndex
      yield* Effect.all([
        Effect.repeat(step, { times: 20 }),
        sql`UPDATE statuses SET deleted_at = '2026-01-01' WHERE id = ${id}`
      ], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* find(author, "fig"), [])
      assert.lengthOf(yield* rows, 0)
      const other = yield* status(author, "a fig tree")
      assert.deepStrictEqual(yield* find(author, "fig"), [other])
      yield* sql`DELETE FROM status_stats WHERE status_id = ${other}`
      yield* sql`DELETE FROM statuses WHERE id = ${other}`
      yield* indexed
      assert.lengthOf(yield* sql`SELECT FROM search_documents WHERE status_id = ${other}`, 0)
    }))

  it.effect("existing posts are read in slices, newest first; only searchable ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("prolific")
      const far = yield* indexable("faraway", "far.example")
      yield* sql`UPDATE accounts SET indexable = false WHERE id = ${far}`
      yield* indexed
      yield* sql`INSERT INTO statuses (id, account_id, html, visibility, conversation_id, local, created_at)
        SELECT next_id(1000), a, '<p>olives</p>', 'public', 1, a = ${author}, '2026-01-01'
        FROM generate_series(1, 450) i, unnest(ARRAY[${author}, ${far}]::bigint[]) a`
      yield* sql`DELETE FROM search_queue`
      yield* sql`INSERT INTO search_scans (account_id, below) VALUES (0, 9223372036854775807)`
      const { step } = yield* StatusIndex
      let steps = 0
      while (yield* step) steps++
      assert.isAbove(steps, 3)
      const count = (by: AccountId) =>
        sql`SELECT FROM search_documents d JOIN statuses s ON s.id = d.status_id WHERE s.account_id = ${by}`
      assert.lengthOf(yield* count(author), 450)
      assert.lengthOf(yield* count(far), 0)
      yield* sql`UPDATE accounts SET indexable = true WHERE id = ${far}`
      yield* indexed
      assert.lengthOf(yield* count(far), 450)
      assert.lengthOf(yield* find(author, "olives", { limit: 40, offset: 880 }), 20)
    }))

  it.effect("row 83: any text gets a result, for any content of posts", () =>
    Effect.gen(function*() {
      const [author, reader] = [yield* indexable("fuzzer"), yield* person("fuzzed")]
      const search = yield* StatusSearch
      const pieces = [
        "-",
        "\"",
        "from:me",
        "has:",
        "before:2024",
        " ",
        "'",
        "\\",
        "&",
        "|",
        "!",
        ":*",
        "<->",
        "(",
        "東京",
        "\u0e48",
        "ﷺ",
        "running",
        "=en",
        "@1"
      ]
      const samples = yield* Effect.forEach(Array.from({ length: 60 }), () =>
        Effect.map(
          Effect.forEach(Array.from({ length: 40 }), () => Random.nextIntBetween(0, pieces.length)),
          (places) => places.map((place) => pieces[place] ?? "").join("")
        )).pipe(Random.withSeed("searches"))
      for (const sample of [...samples, "\0", "\ud800", "\ud800\"x", "\u0301".repeat(300)]) {
        yield* written(author, sample.replaceAll("\0", "").toWellFormed(), "en")
        yield* search.find(reader, { text: sample, accountId: undefined, offset: 0 }, { limit: 20 })
      }
      yield* written(author, "ﷺ ".repeat(20_000), "ar")
      yield* written(author, Array.from({ length: 9_000 }, (_, i) => `word${i}`).join(" "), "en")
      yield* written(author, "東".repeat(20_000), "ja")
      yield* indexed
      assert.lengthOf(yield* find(reader, "word1"), 1)
      assert.lengthOf(yield* find(reader, "東東東"), 1)
    }))

  it.effect("for many interactions, the search starts from the words", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [shy, reader] = [yield* person("shy_author"), yield* person("collector")]
      yield* sql`INSERT INTO statuses (id, account_id, html, visibility, conversation_id, local, created_at)
        SELECT ${
        idAt(5_000)
      } + i, ${shy}, '<p>stone ' || i || '</p>', 'public', 1, true, '2026-01-01' FROM generate_series(1, 10002) i`
      yield* sql`INSERT INTO favourites (id, account_id, status_id) SELECT 100000 + id % 65536, ${reader}, id FROM statuses WHERE account_id = ${shy}`
      assert.deepStrictEqual(yield* find(reader, "stone 10001"), [idAt(5_000) + 10_001n])
      assert.deepStrictEqual(yield* find(reader, "stone", { limit: 2 }), [idAt(5_000) + 10_002n, idAt(5_000) + 10_001n])
      assert.deepStrictEqual(yield* find(reader, "stone in:public"), [])
    }))
})
