import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeKeyOperations from "../../../../src/layers/NodeKeyOperations.ts"
import { AccountId } from "../../../../src/services/database/Ids.ts"
import { LocalActors } from "../../../../src/services/federation/LocalActors.ts"
import { Objects } from "../../../../src/services/federation/Objects.ts"
import { DeliveryExpansion, type Progress } from "../../../../src/services/federation/outbox/DeliveryExpansion.ts"
import { FetchedBy } from "../../../../src/services/federation/outbox/FetchedBy.ts"
import { Outbox } from "../../../../src/services/federation/outbox/Outbox.ts"
import { OutgoingActivities } from "../../../../src/services/federation/outbox/OutgoingActivities.ts"
import { SigningKeys } from "../../../../src/services/federation/SigningKeys.ts"
import { Handles } from "../../../../src/services/identity/Handles.ts"
import { Reads } from "../../../support/Reads.ts"
import * as Worlds from "../../../support/World.ts"

const leaving = Layer.mergeAll(OutgoingActivities.layer, DeliveryExpansion.layer, FetchedBy.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Outbox.layer, Objects.layer, LocalActors.layer)),
  Layer.provideMerge(Layer.merge(Handles.layer, SigningKeys.layer)),
  Layer.provideMerge(Layer.merge(NodeKeyOperations.layer, NodeCrypto.layer)),
  Layer.provideMerge(Reads)
)

const inboxOf = (account: bigint) => `https://host${account}.test/inbox`

/** Moves accounts 4 and 5 to hosts of their own. */
const elsewhere = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const account of [4n, 5n]) {
    yield* sql`UPDATE accounts SET uri = ${`https://host${account}.test/users/${account}`} WHERE id = ${account}`
    yield* sql`INSERT INTO remote_actors (account_id, type, inbox_url, fetched_at)
      VALUES (${account}, 'Person', ${inboxOf(account)}, ${Worlds.now})`
  }
  yield* sql`UPDATE follows SET remote = account_id >= 4`
  yield* sql`DELETE FROM reaches`
})

/** Returns the expected recipients of a post by the standard's rules, account by account. */
const expected = (
  world: Worlds.World,
  statuses: ReadonlyArray<Worlds.Settled>,
  status: Worlds.Settled,
  edit: boolean
) => {
  const { blocks, domainBlocks, follows } = Worlds.relationsOf(world)
  const { author, mentions, reblogOf, replyTo, visibility } = status
  const open = visibility === "public" || visibility === "unlisted"
  const isBlocked = (account: bigint) => blocks.has(`${author}>${account}`)
  // Accounts that a silenced author mentions receive the post only as followers.
  const welcome = (account: bigint) =>
    !isBlocked(account) && (author !== BigInt(world.silenced) || follows.has(`${account}>${author}`))
  const apart = (account: bigint) =>
    isBlocked(account) || blocks.has(`${account}>${author}`) || (domainBlocks.has(author) && Worlds.isRemote(account))
  return [4n, 5n].filter((account) => {
    if (
      status.localOnly || account === BigInt(world.suspended) || author === BigInt(world.suspended) || status.deleted
    ) return false
    // F12: a block is committed before its consequences.
    if (apart(account)) return false
    if (visibility !== "direct" && follows.has(`${account}>${author}`)) return true
    if (reblogOf !== undefined) {
      if (reblogOf.author === account) return true
    } else {
      if (mentions.get(account)?.silent === false && welcome(account)) return true
      if (open && replyTo?.author === account && welcome(account)) return true
      const thread = replyTo?.author ?? author
      if (
        open && thread !== author && !Worlds.isRemote(thread) && welcome(thread) && follows.has(`${account}>${thread}`)
      ) {
        return true
      }
    }
    if (!edit || !open) return false
    return statuses.some((other) => other.author === account && (other.reblogOf === status || other.replyTo === status))
  }).map(inboxOf)
}

/** Expands an intent in slices of one follower. */
const expanded = Effect.fnUntraced(
  function*(fanoutId: bigint, status: Worlds.Settled, leaves: "Create" | "Update" | "Delete") {
    const [outgoingActivities, deliveryExpansion] = [yield* OutgoingActivities, yield* DeliveryExpansion]
    const sql = yield* SqlClient.SqlClient
    const rendered = yield* outgoingActivities.render(status.author, status.id, { leaves, number: "0" })
    if (rendered !== undefined) {
      let progress: Progress | undefined = { phase: 0, cursor: 0n }
      while (progress !== undefined) progress = (yield* deliveryExpansion.slice(fanoutId, rendered, progress, 1)).next
    }
    const rows = yield* sql<{ url: string }>`SELECT i.url FROM deliveries d JOIN inboxes i ON i.id = d.inbox_id
    JOIN outgoing_activities a ON a.id = d.activity_id WHERE a.fanout_id = ${fanoutId} ORDER BY i.url`
    yield* sql`UPDATE deliveries SET tries = 1`
    return rows.map(({ url }) => url)
  }
)

let fanout = 0n

/** Inserts a post of account 1 that was sent to the hosts of its followers 4 and 5. */
const sent = Effect.fnUntraced(function*(visibility: "public" | "private") {
  const sql = yield* SqlClient.SqlClient
  const [status] = yield* Worlds.settle({
    ...Worlds.nothing,
    statuses: [{
      author: 1,
      visibility,
      local: 7,
      deleted: 1,
      reblogOf: null,
      replyTo: null,
      mentions: [],
      language: "en",
      tags: []
    }],
    follows: [4, 5].map((follower) => ({ pair: [follower, 1], showReblogs: true, languages: null }))
  })
  if (status === undefined) return yield* Effect.die("the world has no post")
  yield* elsewhere
  yield* sql`DELETE FROM deliveries`
  assert.lengthOf(yield* expanded(++fanout, status, "Create"), 2)
  return status
})

layer(leaving, { excludeTestServices: true })("recipients", (it) => {
  it.effect.prop(
    "row 67: the inboxes of a post are exactly those of its audience, in any world",
    { world: Worlds.World },
    ({ world }) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const statuses = yield* Worlds.settle(world)
        yield* elsewhere
        for (const status of statuses) {
          if (Worlds.isRemote(status.author)) {
            assert.isEmpty(yield* expanded(++fanout, status, "Create"))
            continue
          }
          const created = yield* expanded(++fanout, status, "Create")
          assert.deepStrictEqual(created, expected(world, statuses, status, false), `Create of ${status.id}`)
          if (status.reblogOf === undefined) {
            const updated = yield* expanded(++fanout, status, "Update")
            assert.deepStrictEqual(updated, expected(world, statuses, status, true), `Update of ${status.id}`)
            assert.includeMembers(updated, created)
          }
          yield* sql`UPDATE statuses SET deleted_at = ${Worlds.now} WHERE id = ${status.id}`
          const gone = yield* expanded(++fanout, status, "Delete")
          assert.includeMembers(gone, created)
        }
      }),
    { arbitrary: { runs: 50 } }
  )

  it.effect("a Delete is sent exactly where the post was sent, unless its delivery has not been tried yet", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const status = yield* sent("private")
      yield* sql`UPDATE deliveries d SET tries = 0 FROM inboxes i WHERE i.id = d.inbox_id AND i.url = ${inboxOf(5n)}`
      // A later follower never received it.
      yield* sql`DELETE FROM follows`
      yield* sql`UPDATE statuses SET deleted_at = ${Worlds.now} WHERE id = ${status.id}`
      assert.deepStrictEqual(yield* expanded(++fanout, status, "Delete"), [inboxOf(4n)])
      const left = yield* sql<{ url: string; type: string }>`SELECT i.url, a.type FROM deliveries d
        JOIN inboxes i ON i.id = d.inbox_id JOIN outgoing_activities a ON a.id = d.activity_id ORDER BY a.id`
      assert.deepStrictEqual(left.map(({ type, url }) => [type, url]), [
        ["Create", inboxOf(4n)],
        ["Delete", inboxOf(4n)]
      ])
      // A deleted post is not sent.
      assert.isEmpty(yield* expanded(++fanout, status, "Create"))
    }))

  it.effect("F44: a Delete is sent to an account that fetched the post while its delivery was waiting", () =>
    Effect.gen(function*() {
      const [sql, fetchedBy] = [yield* SqlClient.SqlClient, yield* FetchedBy]
      const status = yield* sent("public")
      yield* sql`UPDATE deliveries SET tries = 0`
      yield* fetchedBy.record(status.id, AccountId.make(4n))
      yield* sql`UPDATE statuses SET deleted_at = ${Worlds.now} WHERE id = ${status.id}`
      assert.deepStrictEqual(yield* expanded(++fanout, status, "Delete"), [inboxOf(4n)])
    }))

  it.effect("the deletion of an account is sent, at low priority, only to hosts that knew it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* Worlds.settle({
        ...Worlds.nothing,
        follows: [{ pair: [1, 5], showReblogs: true, languages: null }]
      })
      yield* elsewhere
      yield* sql`DELETE FROM deliveries`
      const [outgoingActivities, deliveryExpansion] = [yield* OutgoingActivities, yield* DeliveryExpansion]
      const farewell = { leaves: "Farewell", number: "0" } as const
      const told = Effect.fnUntraced(function*() {
        const rendered = yield* outgoingActivities.render(1n, null, farewell)
        yield* deliveryExpansion.slice(++fanout, rendered!, { phase: 0, cursor: 0n }, 10)
        return yield* sql<{ url: string; low: boolean; type: string }>`SELECT i.url, a.low, a.type FROM deliveries d
          JOIN inboxes i ON i.id = d.inbox_id JOIN outgoing_activities a ON a.id = d.activity_id
          WHERE a.fanout_id = ${fanout} ORDER BY i.url`
      })
      assert.deepStrictEqual(yield* told(), [{ url: inboxOf(5n), low: true, type: "Delete" }])
      // An account at the other host once received a post.
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (1500, 1, 'public', 1500, ${Worlds.now})`
      yield* sql`INSERT INTO reaches SELECT 1500, ARRAY[id] FROM inboxes WHERE url = ${inboxOf(4n)}`
      assert.deepStrictEqual((yield* told()).map(({ url }) => url), [inboxOf(4n), inboxOf(5n)])
      assert.isDefined(yield* deliveryExpansion.tellFollowers(1n, null, farewell))
      assert.isUndefined(yield* deliveryExpansion.tellFollowers(1n, null, { leaves: "Profile", number: "0" }))
    }))
})
