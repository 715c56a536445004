import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Catchups } from "../../../src/services/feeds/Catchups.ts"
import { linkedBy, remoteAccounts } from "../../support/Crowd.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(Catchups.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "a catch-up",
  (it) => {
    it.effect("finds the links that most of its posts share, one post for each", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const catchups = yield* Catchups
        const accounts = yield* remoteAccounts("far.example", 5)
        const rare = yield* linkedBy("https://news.example/rare", accounts.slice(0, 1))
        const common = yield* linkedBy("https://news.example/common", accounts)
        yield* linkedBy("https://news.example/elsewhere", accounts.slice(0, 2))
        const rows = yield* sql<{ readonly statusId: bigint; readonly cardId: bigint }>`
        SELECT status_id, card_id FROM status_cards ORDER BY status_id`
        const withCard = (card: bigint) => rows.filter(({ cardId }) => cardId === card).map(({ statusId }) => statusId)
        const ids = [...withCard(rare), ...withCard(common)]
        assert.lengthOf(ids, 6)
        const newest = (card: bigint) => withCard(card).at(-1) ?? 0n
        assert.deepStrictEqual(yield* catchups.linking(ids, 5), [newest(common), newest(rare)])
        assert.deepStrictEqual(yield* catchups.linking(ids, 1), [newest(common)])
        assert.deepStrictEqual(yield* catchups.linking([], 5), [])
      }))
  }
)
