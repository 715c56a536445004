import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { accountIdRows, rowsOf } from "../../../src/services/database/Rows.ts"
import * as NewestQuery from "../../../src/services/feeds/NewestQuery.ts"
import * as ReadersQuery from "../../../src/services/feeds/ReadersQuery.ts"
import { canSee, type StatusFacts } from "../../../src/services/statuses/Visibility.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import * as Worlds from "../../support/World.ts"
import { listsOf, tagFollowsOf } from "../../support/WorldLists.ts"

const subscriberRows = rowsOf(
  Schema.Struct({ listId: Schema.NullOr(Schema.BigInt), reader: Schema.NullOr(Schema.BigInt) })
)
const readerRows = rowsOf(Schema.Struct({ reader: Schema.NullOr(Schema.BigInt) }))

const factsOf = (world: Worlds.World, status: Worlds.Settled): StatusFacts => ({
  id: status.id,
  accountId: status.author,
  visibility: status.visibility,
  localOnly: status.localOnly,
  deleted: status.deleted,
  authorSuspended: status.author === BigInt(world.suspended),
  reblogOf: status.reblogOf === undefined ? undefined : factsOf(world, status.reblogOf)
})

/** Returns true if the hashtag's timeline shows the status. */
const isBroadcast = (world: Worlds.World, status: Worlds.Settled) =>
  status.visibility === "public" && status.reblogOf === undefined && status.author !== BigInt(world.silenced)

type List = ReturnType<typeof listsOf>[number]
const byMember = (list: List, status: Worlds.Settled) => list.accounts.includes(status.author)
const withMember = (world: Worlds.World, list: List, status: Worlds.Settled) =>
  isBroadcast(world, status) && list.tags.some((tag) => status.tags.includes(tag))

/** Returns true if the reader may see the status. */
const sees = (world: Worlds.World, all: ReadonlyArray<Worlds.Settled>, reader: bigint, status: Worlds.Settled) => {
  const { blocks, follows } = Worlds.relationsOf(world)
  return canSee(AccountId.make(reader), factsOf(world, status), {
    member: !Worlds.isRemote(reader),
    follows: (author) => follows.has(`${reader}>${author}`),
    blockedBy: (author) => blocks.has(`${author}>${reader}`),
    mentionedIn: (id) => all.find((other) => other.id === id)?.mentions.get(reader)?.silent === false
  })
}

/** Returns true if the reader may see the status and hides none of its accounts. */
const meets = (world: Worlds.World, all: ReadonlyArray<Worlds.Settled>, reader: bigint, status: Worlds.Settled) => {
  const { blocks, domainBlocks, mutes } = Worlds.relationsOf(world)
  const original = status.reblogOf
  const met = [
    status.author,
    ...(original === undefined ? [] : [original.author, ...original.mentions.keys()]),
    ...status.mentions.keys()
  ].filter((account) => account !== reader)
  return sees(world, all, reader, status) &&
    !met.some((account) =>
      blocks.has(`${reader}>${account}`) || mutes.get(`${reader}>${account}`)?.ended === false ||
      (domainBlocks.has(reader) && Worlds.isRemote(account))
    )
}

/** Returns true if a follow of the author, if any, allows a reblog and the language. */
const asFollowed = (world: Worlds.World, reader: bigint, { author, language, reblogOf }: Worlds.Settled) => {
  const follow = Worlds.relationsOf(world).follows.get(`${reader}>${author}`)
  if (follow === undefined) return true
  if (reblogOf !== undefined && !follow.showReblogs) return false
  return follow.languages === null || follow.languages === (reblogOf?.language ?? language)
}

const repliesToOthers = (reader: bigint, { author, replyTo }: Worlds.Settled) =>
  replyTo !== undefined && replyTo.author !== reader && replyTo.author !== author ? replyTo.author : undefined

/** The rules again, in plain code. */
const belongs = (world: Worlds.World, all: ReadonlyArray<Worlds.Settled>, reader: bigint, status: Worlds.Settled) => {
  const { follows } = Worlds.relationsOf(world)
  const visible = meets(world, all, reader, status)
  if (status.author === reader) return sees(world, all, reader, status)
  const apart = status.visibility !== "direct" &&
    listsOf(world).some((list) =>
      list.owner === reader && list.exclusive && (byMember(list, status) || withMember(world, list, status))
    )
  if (!visible || apart) return false
  const responded = repliesToOthers(reader, status)
  const followed = follows.has(`${reader}>${status.author}`) && asFollowed(world, reader, status) &&
    (responded === undefined || follows.has(`${reader}>${responded}`))
  return followed || (isBroadcast(world, status) &&
    tagFollowsOf(world).some(({ account, tag }) => account === reader && status.tags.includes(tag)))
}

const belongsIn = (world: Worlds.World, all: ReadonlyArray<Worlds.Settled>, list: List, status: Worlds.Settled) => {
  const { owner, repliesPolicy } = list
  if (status.visibility === "direct" || !meets(world, all, owner, status)) return false
  const responded = repliesToOthers(owner, status)
  const isListedReply = responded === undefined ||
    (repliesPolicy === "followed" && Worlds.relationsOf(world).follows.has(`${owner}>${responded}`)) ||
    (repliesPolicy === "list" && list.accounts.includes(responded))
  return isListedReply &&
    ((byMember(list, status) && asFollowed(world, owner, status)) || withMember(world, list, status))
}

let [entries, listed, tagged] = [0, 0, 0]

layer(TestDatabase.layer, { excludeTestServices: true })("queries of feeds", (it) => {
  it.effect.prop(
    "S-204, S-219, S-220, row 62: the newest of a home or list and the readers of a status follow the same decision, which equals the rules in plain code",
    { world: Worlds.World },
    ({ world }) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const statuses = yield* Worlds.settle(world)
        const locals = [1n, 2n, 3n]
        const lists = listsOf(world)
        const compare = Effect.fnUntraced(function*(
          expected: ReadonlyArray<bigint>,
          newest: (range: NewestQuery.Range) => ReturnType<typeof NewestQuery.ofHome>
        ) {
          const ids = (range: NewestQuery.Range) => Effect.map(newest(range), (rows) => rows.map(({ id }) => id))
          const newestFirst = expected.toReversed()
          assert.deepStrictEqual(yield* ids({ limit: 20 }), newestFirst)
          // Pages of two, down and up, joined, equal the whole.
          for (const limit of [1, 2]) {
            for (const cursor of [undefined, Worlds.firstStatus + 3n, Worlds.firstStatus + 6n]) {
              const below = newestFirst.filter((id) => cursor === undefined || id < cursor).slice(0, limit)
              assert.deepStrictEqual(yield* ids({ below: cursor, limit }), below)
              const above = expected.filter((id) => id > (cursor ?? 0n)).slice(0, limit)
              assert.deepStrictEqual(yield* ids({ above: cursor, ascending: true, limit }), above)
            }
          }
        })
        for (const reader of locals) {
          const expected = statuses.filter((status) => belongs(world, statuses, reader, status)).map(({ id }) => id)
          entries += expected.length
          yield* compare(expected, (range) => NewestQuery.ofHome(sql, reader, range, Worlds.now))
        }
        for (const list of lists) {
          const expected = statuses.filter((status) => belongsIn(world, statuses, list, status)).map(({ id }) => id)
          yield* compare(expected, (range) => NewestQuery.ofList(sql, list.id, range, Worlds.now))
        }
        const since = new Date(0)
        const sorted = (ids: ReadonlyArray<bigint>) => ids.toSorted((a, b) => Number(a - b))
        for (const status of statuses) {
          const slice = { cursor: 0n, limit: 100, seenSince: since }
          const rows = yield* readerRows(ReadersQuery.readers(sql, status.id, status.author, slice, Worlds.now))
          const subscribers = { status: status.id, author: status.author, cursor: 0n, limit: 100 }
          const others = yield* subscriberRows(ReadersQuery.subscribers(sql, subscribers, since, Worlds.now))
          const apart = yield* accountIdRows(ReadersQuery.excluding(sql, status.id, locals))
          const [followers, followersOfTags] = [rows, others].map((found) =>
            found.flatMap(({ reader }) => reader ?? [])
          )
          const expected = locals.filter((reader) =>
            reader !== status.author && belongs(world, statuses, reader, status)
          )
          const home = followers!.filter((reader) => !apart.some(({ accountId }) => accountId === reader))
          assert.deepStrictEqual(sorted([...home, ...followersOfTags!]), expected, `readers of ${status.id}`)
          const into = lists.filter((list) => belongsIn(world, statuses, list, status))
          const found = others.flatMap(({ listId }) => listId ?? [])
          assert.deepStrictEqual(sorted(found), into.map(({ id }) => id), `lists of ${status.id}`)
          listed += found.length
          tagged += followersOfTags!.length
        }
      }),
    { arbitrary: { runs: 120 } }
  )

  it("compared many entries", () => {
    assert.isAbove(entries, 300)
    assert.isAbove(listed, 40)
    assert.isAbove(tagged, 5)
  })
})
