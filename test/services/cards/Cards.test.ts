import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Cards } from "../../../src/services/cards/Cards.ts"
import { StatusCards } from "../../../src/services/cards/StatusCards.ts"
import { linkOf } from "../../../src/services/cards/StatusLinks.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { person } from "../../support/People.ts"
import { plainCard } from "../../support/PlainCard.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const services = Layer.mergeAll(Cards.layer, StatusCards.layer).pipe(
  Layer.provideMerge(Broadcast.layerMemory),
  Layer.provideMerge(TestDatabase.layer)
)

let posts = 0
const status = Effect.fnUntraced(function*(url?: string) {
  const sql = yield* SqlClient.SqlClient
  const cards = yield* StatusCards
  const now = yield* Clock.currentTimeMillis
  const author = yield* person(`author${++posts}`)
  const [{ id } = { id: 0n }] = yield* sql<{ id: bigint }>`
    INSERT INTO statuses (id, account_id, visibility, local, text, html, conversation_id, created_at)
    VALUES (next_id(${now}), ${author}, 'public', true, '', '', 1, ${new Date(now)}) RETURNING id`
  const link = url === undefined ? undefined : linkOf(configuration, url)
  if (link !== undefined) yield* cards.attach(id, link, false)
  return id
})

const day = 86_400_000
const fetched = {
  card: plainCard,
  pageHost: "a.example",
  creatorId: undefined,
  imageUrl: undefined,
  picture: undefined
}

layer(services)("Cards", (it) => {
  it.effect("a page is claimed by one at a time, again when its claim has expired, and has failed after its last attempt", () =>
    Effect.gen(function*() {
      const [cards, sql] = [yield* Cards, yield* SqlClient.SqlClient]
      yield* status("https://one.example/a")
      const claims = yield* Effect.all(Array.from({ length: 4 }, () => cards.claim(10)), { concurrency: 4 })
      const [claimed, ...others] = claims.flat()
      assert.deepStrictEqual([claimed?.url, claimed?.tries, others.length], ["https://one.example/a", 1, 0])
      // The claiming node died.
      for (const tries of [2, 3, 4]) {
        yield* TestClock.adjust("89 seconds")
        assert.lengthOf(yield* cards.claim(10), 0)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual((yield* cards.claim(10)).map((one) => one.tries), [tries])
      }
      yield* TestClock.adjust("90 seconds")
      assert.lengthOf(yield* cards.claim(10), 0)
      const [row] = yield* sql`SELECT due_at, claimed_until, tries, fetched_at IS NOT NULL AS over FROM preview_cards`
      assert.deepStrictEqual(row, { dueAt: null, claimedUntil: null, tries: 0, over: true })
      // The previous holder has no effect any more.
      if (claimed === undefined) return
      assert.deepStrictEqual(yield* cards.complete(claimed, fetched), [])
      yield* cards.retry(claimed)
      assert.deepStrictEqual(yield* sql`SELECT due_at, details FROM preview_cards`, [{ dueAt: null, details: null }])
    }))

  it.effect("a failed attempt is followed by three more, with growing delays", () =>
    Effect.gen(function*() {
      const [cards, sql] = [yield* Cards, yield* SqlClient.SqlClient]
      yield* status("https://two.example/a")
      const due = Effect.map(
        sql<{ dueAt: Date | null }>`SELECT due_at FROM preview_cards WHERE url LIKE 'https://two%'`,
        ([row]) => row?.dueAt?.getTime()
      )
      const waits: Array<number> = []
      for (let tries = 1; tries < 4; tries++) {
        const [claimed] = yield* cards.claim(10)
        if (claimed === undefined) return assert.fail("nothing is due")
        yield* cards.retry(claimed)
        const wait = ((yield* due) ?? 0) - (yield* Clock.currentTimeMillis)
        waits.push(wait)
        yield* TestClock.adjust(wait)
      }
      assert.isAbove(waits[1]!, waits[0]! * 5)
      assert.isAbove(waits[2]!, waits[1]! * 3)
      const [last] = yield* cards.claim(10)
      if (last !== undefined) yield* cards.retry(last)
      assert.isUndefined(yield* due)
    }))

  it.effect("concurrent statuses with one link share a card, and each is updated once", () =>
    Effect.gen(function*() {
      const [cards, sql] = [yield* Cards, yield* SqlClient.SqlClient]
      const ids = yield* Effect.all(
        Array.from({ length: 12 }, (_, at) => status(`https://three.example/a#${at}`)),
        { concurrency: 12 }
      )
      assert.deepStrictEqual(
        yield* sql`SELECT count(DISTINCT card_id)::int AS cards, count(*)::int AS statuses
        FROM status_cards WHERE status_id = ANY (${ids}::bigint[])`,
        [{ cards: 1, statuses: 12 }]
      )
      const [claimed] = yield* cards.claim(10)
      if (claimed !== undefined) yield* cards.complete(claimed, fetched)
      const told = yield* sql<
        { statusId: bigint }
      >`SELECT status_id FROM fanouts WHERE kind = 'card' ORDER BY status_id`
      assert.deepStrictEqual(told.map(({ statusId }) => statusId), ids.toSorted((a, b) => a < b ? -1 : 1))
      // Only the first version is announced.
      yield* sql`UPDATE preview_cards SET due_at = ${new Date(0)} WHERE url LIKE 'https://three%'`
      const [again] = yield* cards.claim(10)
      if (again !== undefined) yield* cards.complete(again, { ...fetched, card: { ...plainCard, title: "new" } })
      assert.lengthOf(yield* sql`SELECT FROM fanouts WHERE kind = 'card'`, ids.length)
    }))

  it.effect("unused cards are deleted after a week, with their pictures; used ones stay", () =>
    Effect.gen(function*() {
      const [cards, sql] = [yield* Cards, yield* SqlClient.SqlClient]
      yield* sql`DELETE FROM preview_cards`
      const [remaining, gone] = [yield* status("https://four.example/kept"), yield* status("https://four.example/gone")]
      yield* sql`INSERT INTO stored_files (name, created_at) VALUES ('picture', ${new Date(0)}), ('other', ${new Date(
        0
      )})`
      for (const claimed of yield* cards.claim(10)) {
        const name = claimed.url.endsWith("gone") ? "picture" : "other"
        yield* cards.complete(claimed, { ...fetched, picture: { name, blurhash: "x" } })
      }
      yield* sql`DELETE FROM statuses WHERE id = ${gone}`
      assert.deepStrictEqual(yield* cards.sweep, [])
      yield* TestClock.adjust(8 * day)
      assert.deepStrictEqual(yield* cards.sweep, ["picture"])
      const held = yield* sql`SELECT name, card_id IS NOT NULL AS held FROM stored_files ORDER BY name`
      assert.deepStrictEqual(held, [{ name: "other", held: true }, { name: "picture", held: false }])
      assert.lengthOf(yield* sql`SELECT FROM status_cards WHERE status_id = ${remaining}`, 1)
    }))
})
