import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../../src/actors/account/core/AccountActors.ts"
import type { Command } from "../../../../src/actors/account/core/AccountProtocol.ts"
import type { AccountId } from "../../../../src/services/database/Ids.ts"
import { layerActors, settled } from "../../../support/Actors.ts"
import { person } from "../../../support/People.ts"
import { remoteAccount } from "../Rendezvous.ts"

const follow = (target: AccountId, more: { reblogs?: boolean; notify?: boolean } = {}): Command => ({
  _tag: "Follow",
  target,
  reblogs: more.reblogs ?? null,
  notify: more.notify ?? null,
  languages: null
})

const stats = Effect.fnUntraced(function*(id: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ followersCount: number; followingCount: number }>`
    SELECT followers_count, following_count FROM account_stats WHERE account_id = ${id}`
  return [row!.followersCount, row!.followingCount]
})

layer(layerActors, { excludeTestServices: true })("Account relates", (it) => {
  it.effect("row 80: 100 parallel follows and unfollows leave exact counters (I12)", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const people = yield* Effect.forEach([1, 2, 3, 4], (n) => person(`crowd${n}`))
      const pairs = people.flatMap((a) => people.filter((b) => b !== a).map((b) => [a, b] as const))
      yield* Effect.forEach(Array.from({ length: 100 }, (_, n) => n), (n) => {
        const [a, b] = pairs[(n * 7) % pairs.length]!
        // On a busy machine the caller may time out, and then repeats the request.
        return actors.tell(a, n % 3 === 0 ? { _tag: "Unfollow", target: b } : follow(b), `crowd ${n}`).pipe(
          Effect.retry({ while: ({ _tag }) => _tag === "Unavailable" })
        )
      }, { concurrency: "unbounded" })
      const wrong = yield* sql`SELECT s.account_id FROM account_stats s WHERE
        followers_count <> (SELECT count(*) FROM follows WHERE target_account_id = s.account_id)
        OR following_count <> (SELECT count(*) FROM follows f WHERE f.account_id = s.account_id)`
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("by requests if the target approves: authorize and reject (S-103, S-104, S-105, S-267)", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const locked = yield* person("locked", { locked: true })
      const a = yield* person("asker1")
      const b = yield* person("asker2")
      yield* actors.tell(a, follow(locked))
      yield* actors.tell(b, follow(locked))
      yield* settled
      assert.deepStrictEqual(yield* stats(locked), [0, 0])
      yield* actors.tell(locked, { _tag: "AuthorizeFollow", target: a })
      yield* actors.tell(locked, { _tag: "RejectFollow", target: b })
      assert.strictEqual(
        (yield* Effect.flip(actors.tell(locked, { _tag: "RejectFollow", target: b })))._tag,
        "RecordNotFound"
      )
      yield* settled
      assert.deepStrictEqual(yield* stats(locked), [1, 0])
      assert.deepStrictEqual(yield* stats(a), [0, 1])
      const told = yield* sql`SELECT type, from_account_id FROM notifications WHERE account_id = ${locked}`
      assert.deepStrictEqual(told, [{ type: "follow", fromAccountId: a }])
      const muter = yield* person("muter")
      yield* actors.tell(muter, { _tag: "Mute", target: a, notifications: true, seconds: 0 })
      yield* actors.tell(a, follow(muter))
      assert.deepStrictEqual(yield* stats(muter), [0, 0])
      yield* actors.tell(locked, { _tag: "RemoveFollower", target: a })
      assert.deepStrictEqual(yield* stats(locked), [0, 0])
    }))

  it.effect("row 62: a block ends follows both ways and its notifications; blocked accounts cannot follow", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const a = yield* person("blocker")
      const b = yield* person("blocked")
      yield* actors.tell(a, follow(b))
      yield* actors.tell(b, follow(a))
      yield* settled
      yield* actors.tell(a, { _tag: "Block", target: b })
      assert.deepStrictEqual([yield* stats(a), yield* stats(b)], [[0, 0], [0, 0]])
      const told = yield* sql`SELECT id FROM notifications WHERE account_id IN (${a}, ${b})`
      assert.deepStrictEqual(told, [])
      const refusals = yield* Effect.forEach(
        [actors.tell(b, follow(a)), actors.tell(a, follow(b)), actors.tell(a, follow(a))],
        Effect.flip
      )
      assert.deepStrictEqual(refusals.map(({ _tag }) => _tag), ["NotAllowed", "NotAllowed", "NotAllowed"])
      yield* actors.tell(a, { _tag: "Unblock", target: b })
      yield* actors.tell(b, follow(a))
      assert.deepStrictEqual(yield* stats(a), [1, 0])
    }))

  it.effect("S-115: a timed mute is ended by the agenda, a prolonged one is not", () =>
    Effect.gen(function*() {
      const actors = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const a = yield* person("muter2")
      const b = yield* person("muted2")
      const c = yield* person("muted3")
      const past = new Date((yield* Clock.currentTimeMillis) - 1000)
      yield* actors.tell(a, { _tag: "Mute", target: b, notifications: true, seconds: 60 })
      yield* actors.tell(a, { _tag: "Mute", target: c, notifications: true, seconds: 60 })
      yield* sql`UPDATE agenda SET due_at = ${past}`
      yield* sql`UPDATE mutes SET expires_at = ${past} WHERE target_account_id = ${b}`
      let due = 1
      while (due > 0) {
        yield* actors.wake(a)
        const [row] = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM agenda`
        due = row!.n
      }
      const left = yield* sql`SELECT target_account_id FROM mutes WHERE account_id = ${a}`
      assert.deepStrictEqual(left, [{ targetAccountId: c }])
    }))

  it.effect("F41: an activity for one person goes to their own inbox, never to the shared inbox", () =>
    Effect.gen(function*() {
      const { tell } = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const me = yield* person("personal")
      const [zoe, yan] = [yield* remoteAccount("zoe", "one.test"), yield* remoteAccount("yan", "one.test")]
      yield* tell(me, follow(zoe))
      yield* tell(zoe, follow(me))
      yield* tell(me, { _tag: "Unfollow", target: zoe })
      yield* tell(me, { _tag: "Block", target: zoe })
      yield* tell(me, { _tag: "Unblock", target: zoe })
      yield* tell(me, follow(yan))
      const sent = yield* sql<{ url: string; types: ReadonlyArray<string> }>`
        SELECT i.url, array_agg(a.type ORDER BY a.id) AS types
        FROM outgoing_activities a JOIN deliveries d ON d.activity_id = a.id JOIN inboxes i ON i.id = d.inbox_id
        WHERE a.sender_id = ${me} GROUP BY i.url ORDER BY i.url`
      assert.deepStrictEqual(sent, [
        { url: "https://one.test/users/yan/inbox", types: ["Follow"] },
        { url: "https://one.test/users/zoe/inbox", types: ["Follow", "Undo", "Reject", "Block", "Undo"] }
      ])
    }))
})
