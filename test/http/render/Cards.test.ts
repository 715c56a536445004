import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { PersistedCard } from "../../../src/services/cards/Card.ts"
import { person } from "../../support/People.ts"
import { plainCard } from "../../support/PlainCard.ts"
import { counted, Reads } from "../../support/Reads.ts"

layer(Reads, { excludeTestServices: true })("cards in lists", (it) => {
  it.effect("a page of one and of forty posts, each with its own card and author, takes the same queries", () =>
    Effect.gen(function*() {
      const [sql, views] = [yield* SqlClient.SqlClient, yield* StatusViews]
      const at = new Date(yield* Clock.currentTimeMillis)
      const details = yield* PersistedCard.encode(plainCard)
      const author = yield* person("author")
      const ids = Array.from({ length: 42 }, (_, place) => BigInt(1_000 + place))
      for (const id of ids) {
        const creator = yield* person(`creator${id}`)
        yield* sql`UPDATE accounts SET attribution_domains = '{Example.org}' WHERE id = ${creator}`
        yield* sql`INSERT INTO statuses (id, account_id, visibility, local, text, html, conversation_id, created_at)
          VALUES (${id}, ${author}, 'public', true, '', '', ${id}, ${at})`
        yield* sql`INSERT INTO preview_cards (id, url_key, url, site, details, page_host, creator_id, created_at)
          VALUES (${id}, ${String(id)}, ${`https://www.example.org/${id}`}, 'example.org', ${details}::jsonb,
            'www.example.org', ${creator}, ${at})`
        yield* sql`INSERT INTO status_cards (status_id, card_id, url) VALUES (${id}, ${id}, ${`https://www.example.org/${id}`})`
      }
      // Emoji are queried only now and then.
      yield* views.render(author, ids.slice(41))
      const one = yield* counted(views.render(author, ids.slice(0, 1)))
      const forty = yield* counted(views.render(author, ids.slice(1, 41)))
      assert.strictEqual(one.queries, forty.queries)
      assert.lengthOf(forty.value, 40)
      const names = forty.value.map((text) => JSON.parse(text).card.authors[0].account.username)
      assert.deepStrictEqual(names, ids.slice(1, 41).map((id) => `creator${id}`))
      assert.strictEqual((yield* counted(views.render(author, ids.slice(1, 41)))).queries, 0)
    }))
})
