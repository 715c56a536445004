import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idOf, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"

const at = new Date(Date.UTC(2024, 1))

layer(servers, { excludeTestServices: true })("publishers of links in Mastodon", (it) => {
  it.effect("F300: keep the review of staff; a refusal takes precedence among the hosts of a site, and a delta copies later reviews", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      yield* from.person(idOf(1), "ada")
      const publisher = (id: bigint, domain: string, trendable: boolean | null) => ({
        id,
        domain,
        trendable,
        reviewedAt: trendable === null ? null : at,
        requestedReviewAt: at
      })
      yield* from.insert(
        "preview_card_providers",
        publisher(1n, "Refused.example", false),
        publisher(2n, "news.example", true),
        publisher(3n, "www.mixed.example", true),
        publisher(4n, "mixed.example", false),
        publisher(5n, "new.example", null),
        publisher(6n, "no domain", true)
      )
      yield* transferred(from, "copy")
      yield* transferred(from, "copy")
      const publishers = sql`SELECT site, trendable, reviewed_at FROM preview_card_providers ORDER BY site`
      assert.deepStrictEqual(yield* publishers, [
        { site: "mixed.example", trendable: false, reviewedAt: at },
        { site: "new.example", trendable: null, reviewedAt: null },
        { site: "news.example", trendable: true, reviewedAt: at },
        { site: "refused.example", trendable: false, reviewedAt: at }
      ])
      assert.deepStrictEqual(yield* rejected(from), ["publishers of links 6"])
      yield* from
        .sql`UPDATE preview_card_providers SET domain = 'moved.example', updated_at = ${new Date()} WHERE id = 1`
      yield* from.sql`UPDATE preview_card_providers SET trendable = NOT coalesce(trendable, true), reviewed_at = ${at},
        updated_at = ${new Date()} WHERE id IN (2, 5)`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(
        yield* sql`SELECT site FROM preview_card_providers WHERE trendable IS FALSE ORDER BY site`,
        [
          { site: "mixed.example" },
          { site: "new.example" },
          { site: "news.example" },
          { site: "refused.example" }
        ]
      )
      assert.deepStrictEqual(yield* rejected(from), ["publishers of links 1", "publishers of links 6"])
    }))
})

layer(servers, { excludeTestServices: true })("sites and links with several reviews", (it) => {
  it.effect("F332: a refusal of one host or link holds against approvals of another, whose review came first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const ada = yield* from.person(idOf(1), "ada")
      const publisher = (id: bigint, domain: string, trendable: boolean | null) =>
        from.insert("preview_card_providers", {
          id,
          domain,
          trendable,
          reviewedAt: trendable === null ? null : at,
          requestedReviewAt: at
        })
      const card = Effect.fnUntraced(function*(id: bigint, url: string) {
        yield* from.insert("statuses", { id: idOf(10 + Number(id)), accountId: ada.id, local: true, text: "A link" })
        yield* from.insert("preview_cards", { id, url, title: "News" })
        yield* from.insert("preview_cards_statuses", { previewCardId: id, statusId: idOf(10 + Number(id)) })
      })
      const review = (table: string, id: bigint, trendable: boolean) =>
        from.sql`UPDATE ${from.sql(table)} SET trendable = ${trendable}, updated_at = ${new Date()} WHERE id = ${id}`
      yield* publisher(1n, "www.mixed.example", true)
      yield* publisher(3n, "www.lifted.example", true)
      yield* publisher(4n, "lifted.example", false)
      yield* card(1n, "http://news.example/a")
      yield* card(2n, "https://news.example/a")
      yield* transferred(from, "copy")
      yield* publisher(2n, "mixed.example", false)
      yield* review("preview_cards", 1n, false)
      yield* transferred(from, "delta")
      yield* review("preview_card_providers", 1n, true)
      yield* review("preview_card_providers", 4n, true)
      yield* review("preview_cards", 2n, true)
      yield* transferred(from, "delta")
      const publishers = sql`SELECT site, trendable FROM preview_card_providers ORDER BY site`
      const links = sql`SELECT url, trendable FROM preview_cards`
      assert.deepStrictEqual(yield* publishers, [
        { site: "lifted.example", trendable: true },
        { site: "mixed.example", trendable: false }
      ])
      assert.deepStrictEqual(yield* links, [{ url: "https://news.example/a", trendable: false }])
      yield* review("preview_cards", 1n, true)
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* links, [{ url: "https://news.example/a", trendable: true }])
    }))
})
