import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountViews } from "../../../src/http/render/AccountViews.ts"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { Account } from "../../../src/http/wire/Account.ts"
import { counted, Reads } from "../../support/Reads.ts"

const at = new Date("2026-06-01T12:00:00Z")
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Account), { onExcessProperty: "error" })

layer(Reads, { excludeTestServices: true })("AccountViews", (it) => {
  it.effect("a list takes two queries without caches, none with all cached, at any length", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const views = yield* AccountViews
      yield* sql`INSERT INTO accounts (id, username, display_name, moved_to_id, created_at, updated_at)
        SELECT i, 'account' || i, 'I am :blobcat: and :unknown: :hidden:', CASE WHEN i % 2 = 0 THEN 1 END, ${at}, ${at}
        FROM generate_series(1::bigint, 80) i`
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, visible_in_picker, disabled, category, created_at)
        VALUES (1, 'blobcat', NULL, 'u', 's', false, false, 'cats', ${at}), (2, 'hidden', NULL, 'u', 's', true, true, NULL, ${at}),
          (3, 'unknown', 'remote.example', 'u', 's', true, false, NULL, ${at})`
      const ids = (rows: number) => Array.from({ length: rows }, (_, index) => BigInt(index + 1))
      const few = yield* counted(views.render(ids(2)))
      const many = yield* counted(views.render(ids(80)))
      const again = yield* counted(views.render([...ids(80), 4711n]))
      const warm = yield* counted(views.render(ids(80).toReversed()))
      assert.deepStrictEqual([few.queries, many.queries, again.queries, warm.queries], [2, 1, 1, 0])
      assert.strictEqual(again.value.length, 80)
      const shown = yield* Effect.forEach(warm.value, (text) => decode(text))
      assert.deepStrictEqual(shown.map(({ id }) => id), ids(80).toReversed().map(String))
      assert.strictEqual(shown[0]?.moved?.id, "1")
    }))

  it.effect("S-093: texts have the enabled local emoji that they name, including unlisted ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const blobcat = { shortcode: "blobcat", url: "u", static_url: "s", visible_in_picker: false, category: "cats" }
      const account = yield* decode(yield* (yield* AccountViews).renderOne(1n))
      assert.deepStrictEqual(account.emojis, [blobcat])
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, html, spoiler_text, created_at)
        VALUES (1, 1, 'public', 1, '<p>:blobcat:</p>', ':blobcat: :hidden:', ${at})`
      const status = JSON.parse(yield* (yield* StatusViews).renderOne(undefined, 1n))
      assert.deepStrictEqual(status.emojis, [blobcat])
    }))

  it.effect("remote emoji take one more query for accounts and one for posts, at any page length", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO accounts (id, username, domain, uri, display_name, created_at, updated_at)
        SELECT i, 'far' || i, 'far' || i % 3 || '.test', 'https://far' || i % 3 || '.test/' || i, ':there: :blobcat:', ${at}, ${at}
        FROM generate_series(500::bigint, 539) i`
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, html, uri, local, created_at)
        SELECT i, i, 'public', i, '<p title=":no:">:there: :blobcat: :no&#58; :gone:</p>', 'https://far' || i % 3 || '.test/s/' || i,
          false, ${at} FROM generate_series(500::bigint, 539) i`
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, disabled, created_at)
        SELECT 100 + 10 * i + n, name, 'far' || i || '.test', 'https://far' || i || '.test/' || name, '', name = 'gone', ${at}
        FROM generate_series(0::bigint, 2) i, unnest(ARRAY['there', 'no', 'gone']) WITH ORDINALITY e (name, n)`
      const page = (from: number, rows: number) => Array.from({ length: rows }, (_, index) => BigInt(from + index))
      const views = yield* StatusViews
      const few = yield* counted(views.render(undefined, page(500, 2)))
      const many = yield* counted(views.render(undefined, page(502, 38)))
      const warm = yield* counted(views.render(undefined, page(500, 40)))
      assert.deepStrictEqual([few.queries, many.queries, warm.queries], [5, 5, 0])
      for (const text of warm.value) {
        const { account, emojis } = JSON.parse(text)
        assert.deepStrictEqual(emojis.map(({ shortcode }: { shortcode: string }) => shortcode), ["there"])
        assert.strictEqual(emojis[0].url, account.emojis[0].url)
        assert.match(emojis[0].url, /^https:\/\/local\.example\/media_proxy\/[0-9a-f]{40}$/)
      }
      assert.strictEqual(new Set(warm.value.map((text) => JSON.parse(text).emojis[0].url)).size, 3)
    }))
})
