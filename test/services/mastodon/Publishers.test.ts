import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idOf, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"

const at = new Date(Date.UTC(2024, 1))

layer(servers, { excludeTestServices: true, timeout: "3 minutes" })("publishers of links in Mastodon", (it) => {
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
