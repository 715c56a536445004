import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../../src/actors/account/core/AccountActors.ts"
import { SliceRows } from "../../../../src/actors/account/fanout/Slice.ts"
import { type AccountId, StatusId } from "../../../../src/services/database/Ids.ts"
import { type Post } from "../../../../src/services/statuses/Post.ts"
import { layerActors, settled } from "../../../support/Actors.ts"
import { person } from "../../../support/People.ts"
import { post } from "../../../support/Posts.ts"

const question = (multiple: boolean): Post => ({
  ...post("Which?"),
  poll: { options: ["one", "two", "three"], seconds: 3_600, multiple, hideTotals: false }
})

const asks = Effect.fnUntraced(function*(author: AccountId, multiple = false) {
  const { id } = yield* (yield* AccountActors).tell(author, { _tag: "Publish", post: question(multiple) })
  return StatusId.make(BigInt(id))
})

const votes = Effect.fnUntraced(function*(voter: AccountId, statusId: StatusId, ...choices: ReadonlyArray<number>) {
  return yield* (yield* AccountActors).tell(voter, { _tag: "Vote", statusId, choices }).pipe(
    Effect.match({ onSuccess: () => "voted", onFailure: ({ message }) => message })
  )
})

const counted = Effect.fnUntraced(function*(statusId: StatusId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ counts: ReadonlyArray<number>; votersCount: number; votes: number }>`
    SELECT counts, voters_count, (SELECT count(*)::int FROM poll_votes v WHERE v.status_id = p.status_id) AS votes
    FROM polls p WHERE status_id = ${statusId}`
  return [row!.counts, row!.votersCount, row!.votes]
})

layer(layerActors.pipe(Layer.provide(Layer.succeed(SliceRows, 2))), {
  excludeTestServices: true
})("Account votes", (it) => {
  it.effect("S-076: concurrent votes count once per person, and the totals match the votes", () =>
    Effect.gen(function*() {
      const author = yield* person("asking")
      const people = yield* Effect.forEach(Array.from({ length: 12 }, (_, n) => n), (n) => person(`voter${n}`))
      const [single, several] = [yield* asks(author), yield* asks(author, true)]
      const attempts = people.flatMap((voter, n) =>
        [0, 1, 2, 3].flatMap((again) => [
          Effect.map(votes(voter, single, (n + again) % 3), (response) => ({ poll: "single", response })),
          Effect.map(votes(voter, several, n % 3, (n + 1) % 3, n % 3), (response) => ({ poll: "several", response }))
        ])
      )
      const responses = yield* Effect.all(attempts, { concurrency: "unbounded" })
      for (const poll of ["single", "several"]) {
        const given = responses.filter((one) => one.poll === poll).map(({ response }) => response)
        assert.strictEqual(given.filter((response) => response === "voted").length, 12, poll)
        assert.deepStrictEqual(
          new Set(given),
          new Set(["voted", "Validation failed: You have already voted on this poll"])
        )
      }
      const [counts, voters, rows] = yield* counted(single)
      assert.deepStrictEqual([voters, rows], [12, 12])
      assert.strictEqual((counts as ReadonlyArray<number>).reduce((sum, n) => sum + n, 0), 12)
      assert.deepStrictEqual(yield* counted(several), [[8, 8, 8], 12, 24])
    }))

  it.effect("S-076: an invalid vote is refused with a message, and changes nothing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [author, voter] = [yield* person("asking2"), yield* person("voting2")]
      const poll = yield* asks(author)
      const refused = "Validation failed: The chosen vote option does not exist"
      for (const choices of [[], [3], [-1], [0, 7]]) assert.strictEqual(yield* votes(voter, poll, ...choices), refused)
      assert.strictEqual(yield* votes(author, poll, 0), "Validation failed: You cannot vote in your own polls")
      assert.strictEqual(
        yield* votes(voter, poll, 0, 1),
        "Validation failed: You have already voted on this poll"
      )
      const { id } = yield* (yield* AccountActors).tell(author, { _tag: "Publish", post: post("No poll") })
      assert.strictEqual(yield* votes(voter, StatusId.make(BigInt(id)), 0), "Record not found")
      const now = yield* Clock.currentTimeMillis
      yield* sql`UPDATE polls SET expires_at = ${new Date(now)} WHERE status_id = ${poll}`
      assert.strictEqual(yield* votes(voter, poll, 0), "Validation failed: The poll has already ended")
      assert.deepStrictEqual(yield* counted(poll), [[0, 0, 0], 0, 0])
    }))

  it.effect("when a poll ends, its author and the local voters are notified once, in slices; remote voters are not", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("asking3")
      const people = yield* Effect.forEach(Array.from({ length: 5 }, (_, n) => n), (n) => person(`late${n}`))
      const poll = yield* asks(author)
      for (const [n, voter] of people.slice(0, 4).entries()) yield* votes(voter, poll, n % 3)
      const past = new Date((yield* Clock.currentTimeMillis) - 1_000)
      yield* sql`UPDATE agenda SET due_at = ${past} WHERE kind = 'poll_end' AND subject_id = ${poll}`
      const told = sql<{ accountId: bigint }>`SELECT account_id FROM notifications
        WHERE type = 'poll' AND status_id = ${poll} AND from_account_id = ${author} ORDER BY account_id`
      const struck = Effect.gen(function*() {
        for (let waiting = 1; waiting > 0;) {
          yield* actors.wake(author)
          const [row] = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM agenda
            WHERE subject_id = ${poll} AND due_at <= ${past}`
          waiting = row!.n
        }
        yield* settled
      })
      // Woken too early, it waits until the poll's end.
      yield* struck
      assert.deepStrictEqual(yield* told, [])
      const [entry] = yield* sql<{ same: boolean }>`SELECT a.due_at = p.expires_at AS same FROM agenda a
        JOIN polls p ON p.status_id = a.subject_id WHERE p.status_id = ${poll} AND a.kind = 'poll_end'`
      assert.deepStrictEqual(entry, { same: true })
      yield* sql`DELETE FROM agenda WHERE subject_id = ${poll}`
      yield* sql`UPDATE polls SET expires_at = ${past} WHERE status_id = ${poll}`
      for (const _ of [1, 2]) {
        yield* sql`INSERT INTO agenda (kind, subject_id, account_id, due_at) VALUES ('poll_end', ${poll}, ${author}, ${past})`
        yield* struck
        assert.deepStrictEqual(
          (yield* told).map(({ accountId }) => accountId),
          [author, ...people.slice(0, 4)].toSorted((a, b) => Number(a - b))
        )
      }
    }))
})
