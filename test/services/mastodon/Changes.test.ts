import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idOf, servers, source, transferred } from "../../support/mastodon/Copies.ts"

const at = new Date(Date.UTC(2024, 1))

layer(servers, { excludeTestServices: true })("changes in Mastodon since the copy", (it) => {
  it.effect("F301: a delta brings reviews for trends, quote policies, IP blocks and settings of profiles", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const ada = yield* from.person(idOf(1), "ada")
      yield* from.insert(
        "tags",
        ...[1n, 2n].map((id) => ({
          id,
          name: `tag${id}`,
          usable: true,
          listable: true,
          trendable: id === 1n ? null : true,
          requestedReviewAt: at,
          reviewedAt: id === 1n ? null : at
        }))
      )
      for (const n of [1, 2]) {
        const [card, status] = [BigInt(n), idOf(10 + n)]
        yield* from.insert("statuses", { id: status, accountId: ada.id, local: true, text: "A link" })
        yield* from.insert("preview_cards", { id: card, url: `https://news.example/${n}`, title: "News" })
        yield* from.insert("preview_cards_statuses", { previewCardId: card, statusId: status })
      }
      yield* from.insert(
        "ip_blocks",
        { id: 1n, ip: "192.0.2.0/24", severity: 5_000, comment: "spam" },
        { id: 2n, ip: "198.51.100.0/24", severity: 9_999 }
      )
      yield* transferred(from, "copy")
      const tags = sql`SELECT name, usable, trendable, reviewed_at FROM tags WHERE name LIKE 'tag_' ORDER BY name`
      const links = sql`SELECT url, trendable FROM preview_cards ORDER BY url`
      assert.deepStrictEqual(yield* tags, [
        { name: "tag1", usable: true, trendable: null, reviewedAt: null },
        { name: "tag2", usable: true, trendable: true, reviewedAt: at }
      ])
      assert.deepStrictEqual(yield* links, [
        { url: "https://news.example/1", trendable: null },
        { url: "https://news.example/2", trendable: null }
      ])
      const now = new Date()
      yield* from
        .sql`UPDATE tags SET trendable = false, usable = false, reviewed_at = ${at}, updated_at = ${now} WHERE id = 1`
      yield* from.sql`UPDATE preview_cards SET trendable = false, updated_at = ${now} WHERE id = 2`
      yield* from.sql`UPDATE ip_blocks SET severity = 9999, comment = 'attack', updated_at = ${now} WHERE id = 1`
      // Mastodon's staff ended it.
      yield* from.sql`UPDATE ip_blocks SET expires_at = ${at}, updated_at = ${now} WHERE id = 2`
      // Followers may quote without approval.
      yield* from.sql`UPDATE statuses SET quote_approval_policy = ${4 << 16}, updated_at = ${now} WHERE id = ${
        idOf(11)
      }`
      yield* from
        .sql`UPDATE accounts SET trendable = false, reviewed_at = ${at}, attribution_domains = ARRAY['news.example'],
        updated_at = ${now}`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* tags, [
        { name: "tag1", usable: false, trendable: false, reviewedAt: at },
        { name: "tag2", usable: true, trendable: true, reviewedAt: at }
      ])
      assert.deepStrictEqual(yield* links, [
        { url: "https://news.example/1", trendable: null },
        { url: "https://news.example/2", trendable: false }
      ])
      assert.deepStrictEqual(yield* sql`SELECT severity, comment, expires_at FROM ip_blocks ORDER BY id`, [
        { severity: "no_access", comment: "attack", expiresAt: null },
        { severity: "no_access", comment: "", expiresAt: at }
      ])
      assert.deepStrictEqual(yield* sql`SELECT interaction_policy FROM statuses WHERE id = ${idOf(11)}`, [
        { interactionPolicy: ["canQuote", "canQuote:automatic:followers"] }
      ])
      assert.deepStrictEqual(
        yield* sql`SELECT trendable, reviewed_at, attribution_domains FROM accounts WHERE id = ${ada.id}`,
        [{ trendable: false, reviewedAt: at, attributionDomains: ["news.example"] }]
      )
    }))
})
