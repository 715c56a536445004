import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import type { Command } from "../../../src/actors/account/core/AccountProtocol.ts"
import { AccountId, StatusId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { layerActors, node, settled } from "../../support/Actors.ts"
import { followers, person } from "../../support/People.ts"
import { post } from "../../support/Posts.ts"
import { installBarriers, interleave, remoteAccount, violations } from "./Rendezvous.ts"

const follow = (target: AccountId): Command => ({
  _tag: "Follow",
  target,
  reblogs: null,
  notify: null,
  languages: null
})
const block = (target: AccountId): Command => ({ _tag: "Block", target })
const domain = "far.test"

interface Pair {
  readonly name: string
  /** Local accounts; `other` is at `far.test`. */
  readonly here: AccountId
  readonly near: AccountId
  readonly other: AccountId
}

/** Two concurrent actions after `before`; neither order may leave an invalid relation. */
interface Race {
  readonly what: string
  readonly before?: (pair: Pair) => ReadonlyArray<readonly [AccountId, Command]>
  readonly sides: (pair: Pair) => readonly [readonly [AccountId, Command], readonly [AccountId, Command]]
}

const setLocked = (locked: boolean): Command => ({ _tag: "UpdateProfile", change: { locked } })

const races: ReadonlyArray<Race> = [
  {
    what: "a follow and the block of the one who is followed",
    sides: ({ here, near }) => [[near, follow(here)], [here, block(near)]]
  },
  {
    what: "two follows, one of which ends in a block",
    before: ({ here, near }) => [[here, follow(near)]],
    sides: ({ here, near }) => [[near, follow(here)], [here, block(near)]]
  },
  {
    what: "a follow from another server and a block",
    sides: ({ here, other }) => [[other, follow(here)], [here, block(other)]]
  },
  {
    what: "a follow and a block from another server",
    sides: ({ here, other }) => [[here, follow(other)], [other, block(here)]]
  },
  {
    what: "a follow from another server and the block of its domain",
    sides: ({ here, other }) => [[other, follow(here)], [here, { _tag: "BlockDomain", domain }]]
  },
  {
    what: "an authorised follow request and a block by its requester",
    before: ({ here, near }) => [[here, setLocked(true)], [near, follow(here)]],
    sides: ({ here, near }) => [[here, { _tag: "AuthorizeFollow", target: near }], [near, block(here)]]
  },
  {
    what: "an account that unlocks itself and a block by its requester",
    before: ({ here, near }) => [[here, setLocked(true)], [near, follow(here)]],
    sides: ({ here, near }) => [[here, setLocked(false)], [near, block(here)]]
  },
  {
    what: "a follow and its target, which locks itself",
    sides: ({ here, near }) => [[near, follow(here)], [here, setLocked(true)]]
  },
  {
    what: "a follow request and its target, which unlocks itself",
    before: ({ here }) => [[here, setLocked(true)]],
    sides: ({ here, near }) => [[near, follow(here)], [here, setLocked(false)]]
  },
  {
    what: "a follow and the deletion of its target",
    sides: ({ here, near }) => [[near, follow(here)], [here, { _tag: "DeleteAccount" }]]
  },
  {
    what: "an authorised follow request and the deletion of its requester",
    before: ({ here, near }) => [[here, setLocked(true)], [near, follow(here)]],
    sides: ({ here, near }) => [[here, { _tag: "AuthorizeFollow", target: near }], [near, { _tag: "DeleteAccount" }]]
  }
]

let pairs = 0
const pairOf = Effect.fnUntraced(function*() {
  const name = `p${++pairs}`
  return {
    name,
    here: yield* person(`${name}here`),
    near: yield* person(`${name}near`),
    other: yield* remoteAccount(`${name}other`, domain)
  } satisfies Pair
})

layer(layerActors, { excludeTestServices: true })("two accounts at the same time", (it) => {
  const prepare = Effect.fnUntraced(function*({ before, sides }: Race) {
    const { tell } = yield* AccountActors
    const pair = yield* pairOf()
    for (const [account, command] of before?.(pair) ?? []) yield* tell(account, command, `${pair.name} before`)
    return sides(pair).map(([account, command]) => tell(account, command, pair.name))
  })

  /** Makes delayed work due, and waits for it: effects of domain blocks, and deletion of data. */
  const over = Effect.fnUntraced(function*(oneByOne: boolean) {
    const { wake } = yield* AccountActors
    const sql = yield* SqlClient.SqlClient
    const due = sql<{ accountId: bigint }>`UPDATE agenda SET due_at = 'epoch' RETURNING account_id`
    yield* settled
    for (let left = yield* due; left.length > 0; left = yield* due) {
      yield* Effect.forEach(new Set(left.map(({ accountId }) => accountId)), (id) => wake(AccountId.make(id)), {
        discard: true
      })
      yield* settled
    }
    return yield* violations(oneByOne)
  })

  it.effect("F12: one side's check holds when the other commits: singly in both orders, and 60 pairs at once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Another test file may have caused deadlocks in this database on purpose.
      const deadlocks = sql`SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`
      const before = yield* deadlocks
      yield* installBarriers
      for (const race of races) {
        for (const turned of [false, true]) {
          const [one, two] = yield* prepare(race)
          yield* turned ? interleave(two!, one!) : interleave(one!, two!)
        }
      }
      assert.deepStrictEqual(yield* over(true), [])
      const sides = yield* Effect.forEach(Array.from({ length: 60 }, (_, at) => races[at % races.length]!), prepare)
      yield* Effect.forEach(sides.flat(), Effect.exit, { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* over(false), [])
      assert.deepStrictEqual(yield* deadlocks, before)
    }))

  it.effect("F12: a block hides the next post from the blocked account before its follows are ended", () =>
    Effect.gen(function*() {
      const { tell } = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("author")
      const hosts = ["blocked.test", "blocking.test", "closed.test", "welcome.test"]
      const [blocked, blocking, closed, welcome] = yield* Effect.forEach(
        hosts,
        (host, at) => remoteAccount(`f${at}`, host)
      )
      yield* followers(author, [blocked!, blocking!, closed!, welcome!])
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, ${author}, ${blocked}), (2, ${blocking}, ${author})`
      yield* sql`INSERT INTO domain_mutes (id, account_id, domain) VALUES (3, ${author}, 'closed.test')`
      for (const visibility of ["public", "private"] as const) {
        yield* tell(author, { _tag: "Publish", post: post("hello", { visibility }) })
      }
      yield* settled
      assert.deepStrictEqual(
        yield* sql`SELECT h.host, count(*)::int AS posts FROM outgoing_activities a JOIN deliveries d ON d.activity_id = a.id
          JOIN hosts h ON h.id = d.host_id WHERE a.sender_id = ${author} AND a.type = 'Create' GROUP BY h.host`,
        [{ host: "welcome.test", posts: 2 }]
      )
    }))

  it.effect("F12: a boost that is undone while its post is deleted is counted once", () =>
    Effect.gen(function*() {
      const { tell } = yield* AccountActors
      const sql = yield* SqlClient.SqlClient
      const [author, booster] = [yield* person("boosted"), yield* person("booster")]
      const { id } = yield* tell(author, { _tag: "Publish", post: post("for a while") })
      const statusId = StatusId.make(BigInt(id))
      yield* tell(booster, { _tag: "Reblog", statusId, visibility: "public" })
      yield* settled
      const waits = (most: number) =>
        Effect.gen(function*() {
          while ((yield* sql`SELECT FROM pg_locks WHERE NOT granted`).length < most) yield* Effect.yieldNow
        })
      const [held, taken] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const both = yield* Effect.forkChild(Effect.all([
        Effect.andThen(Deferred.await(held), tell(booster, { _tag: "Unreblog", statusId })),
        Effect.andThen(Deferred.await(taken), tell(author, { _tag: "Delete", statusId }))
      ], { concurrency: "unbounded" }))
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT FROM account_stats WHERE account_id = ${booster} FOR UPDATE`
        yield* Deferred.succeed(held, undefined)
        // The boost is deleted, and may not be uncounted yet.
        yield* waits(1)
        yield* Deferred.succeed(taken, undefined)
        yield* waits(2)
      }))
      yield* Fiber.join(both)
      yield* settled
      assert.deepStrictEqual(
        yield* sql`SELECT statuses_count AS posts FROM account_stats WHERE account_id = ${booster}`,
        [{ posts: 0 }]
      )
    }))

  it.effect("F248: nodes are notified of a suspension twice: after its commit, and by an intent that outlives the node", () =>
    Effect.scoped(Effect.gen(function*() {
      const account = yield* person("outlived")
      const heard = yield* (yield* Broadcast).subscribe
      const { tell } = yield* AccountActors
      yield* tell(account, { _tag: "Moderate", measure: "suspend", stands: true })
      for (let told = 0; told < 2;) {
        const message = yield* PubSub.take(heard)
        if (message._tag === "Revoked" && message.accountIds.includes(account)) told++
      }
      yield* settled
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT kind FROM fanouts WHERE account_id = ${account}`, [])
    })))

  it.effect("F60: notifications sent by the previous owner during a takeover are not repeated", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const author = yield* person("heir")
      const { id } = yield* (yield* AccountActors).tell(author, { _tag: "Publish", post: post("one") })
      yield* settled
      const next = yield* Layer.build(Layer.fresh(node))
      const { tell, wake } = Context.get(next, AccountActors)
      const heard = yield* Context.get(next, Broadcast).subscribe
      // Inserted once the account is held, so that no agenda wakes the next owner first.
      const left = sql`INSERT INTO fanouts (id, account_id, kind, status_id, created_at)
        VALUES (1, ${author}, 'edit', ${BigInt(id)}, 'epoch')`
      const held = yield* Deferred.make<void>()
      const waking = yield* Effect.forkChild(Effect.andThen(Effect.andThen(Deferred.await(held), left), wake(author)))
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT FROM actors WHERE account_id = ${author} FOR SHARE`
        yield* Deferred.succeed(held, undefined)
        // The next owner has read the pending work, and may not have the account yet.
        while ((yield* sql`SELECT FROM pg_locks WHERE NOT granted`).length === 0) yield* Effect.yieldNow
        yield* sql`DELETE FROM fanouts WHERE id = 1`
      }))
      yield* Fiber.join(waking)
      yield* tell(author, { _tag: "Publish", post: post("two") })
      const told: Array<string> = []
      while (!told.includes("update")) {
        const message = yield* PubSub.take(heard)
        if (message._tag === "StatusEvent") told.push(message.event)
      }
      assert.deepStrictEqual(told, ["update"])
    })))
})
