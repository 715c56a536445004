import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { insertLists } from "./WorldLists.ts"

/*
 * Small worlds of accounts and statuses for property tests. `World` generates them, `settle` writes one into an empty
 * database. Accounts have the ids 1 to `accounts`, statuses `firstStatus` and up. Each rule exists twice: here as plain
 * loops, in the product as SQL.
 */

export const accounts = 5
export const firstStatus = 1000n
export const statusesMax = 10
/** Time of the tests' reads. */
export const now = new Date("2026-06-01T12:00:00Z")

const Account = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: accounts }))
const Local = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
const Pair = Schema.Tuple([Account, Account])
const earlier = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })))
const pairs = Schema.Array(Pair).check(Schema.isMaxLength(4))
const rarely = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 7 }))

const Tag = Schema.Literals(["birds", "cats"])

/** A user's list and its members. */
const List = Schema.Struct({
  /** Only local users have lists. */
  owner: Local,
  repliesPolicy: Schema.Literals(["followed", "list", "none"]),
  exclusive: Schema.Boolean,
  accounts: Schema.Array(Account).check(Schema.isBetweenLength(1, 4)),
  tags: Schema.Array(Tag).check(Schema.isMaxLength(1))
})

export const Status = Schema.Struct({
  author: Account,
  visibility: Schema.Literals(["public", "unlisted", "private", "direct"]),
  /** Local-only if below 2. */
  local: rarely,
  /** Deleted if 0. */
  deleted: rarely,
  /** Index of an earlier status; for a reblog, its original is used. */
  reblogOf: earlier,
  replyTo: earlier,
  mentions: Schema.Array(Schema.Struct({ account: Account, silent: Schema.Boolean })).check(
    Schema.isBetweenLength(1, 3)
  ),
  language: Schema.Literals(["en", "de"]),
  tags: Schema.Array(Tag).check(Schema.isMaxLength(2))
})

export const World = Schema.Struct({
  /** Suspended account; 0 or less means none. */
  suspended: Schema.Int.check(Schema.isBetween({ minimum: -12, maximum: accounts })),
  statuses: Schema.Array(Status).check(Schema.isBetweenLength(5, statusesMax)),
  follows: Schema.Array(
    Schema.Struct({ pair: Pair, showReblogs: Schema.Boolean, languages: Schema.NullOr(Schema.Literals(["en", "de"])) })
  ).check(Schema.isBetweenLength(3, 12)),
  blocks: pairs,
  mutes: Schema.Array(Schema.Struct({
    pair: Pair,
    ended: Schema.Boolean,
    hidesNotifications: Schema.Boolean,
    allowsReplies: Schema.Boolean
  })).check(
    Schema.isMaxLength(6)
  ),
  /** Accounts 4 and 5 are at remote.example, whose domain these accounts block. */
  domainBlocks: Schema.Array(Account).check(Schema.isMaxLength(2)),
  /** Silenced account; 0 or less means none. */
  silenced: Schema.Int.check(Schema.isBetween({ minimum: -12, maximum: accounts })),
  lists: Schema.Array(List).check(Schema.isBetweenLength(1, 3)),
  tagFollows: Schema.Array(Schema.Struct({ account: Local, tag: Tag })).check(Schema.isBetweenLength(1, 4))
})
export type World = typeof World.Type

/** A world with only accounts. */
export const nothing: World = {
  suspended: 0,
  statuses: [],
  follows: [],
  blocks: [],
  mutes: [],
  domainBlocks: [],
  silenced: 0,
  lists: [],
  tagFollows: []
}

/** A status of a world in the database, with its database ids. */
export interface Settled {
  readonly id: bigint
  readonly author: bigint
  readonly visibility: "public" | "unlisted" | "private" | "direct"
  readonly localOnly: boolean
  readonly deleted: boolean
  readonly language: string
  readonly reblogOf: Settled | undefined
  readonly replyTo: Settled | undefined
  readonly conversation: bigint
  readonly mentions: ReadonlyMap<bigint, { readonly silent: boolean }>
  readonly tags: ReadonlyArray<string>
}

export const isRemote = (account: bigint): boolean => account >= 4n

/**
 * Returns the statuses of a world. An index without an earlier status counts as absent; a reblog of a reblog points to
 * the original.
 */
export const statusesOf = (world: World): ReadonlyArray<Settled> => {
  const settled: Array<Settled> = []
  world.statuses.forEach((status, index) => {
    const named = (at: number | null) => at === null ? undefined : settled[at]
    const target = named(status.reblogOf)
    const reblogOf = target?.reblogOf ?? target
    settled.push({
      id: firstStatus + BigInt(index),
      author: BigInt(status.author),
      visibility: status.visibility,
      // Boosts of and replies to a local-only status are local-only.
      localOnly: reblogOf?.localOnly ?? (status.local < 2 || named(status.replyTo)?.localOnly === true),
      deleted: status.deleted === 0,
      language: status.language,
      reblogOf: repeated(settled, status.author, reblogOf) ? undefined : reblogOf,
      replyTo: reblogOf === undefined ? named(status.replyTo) : undefined,
      conversation: reblogOf?.conversation ??
        (reblogOf === undefined ? named(status.replyTo)?.conversation : undefined) ??
        firstStatus + BigInt(index) + 500n,
      mentions: new Map(status.mentions.map(({ account, silent }) => [BigInt(account), { silent }])),
      tags: reblogOf === undefined ? [...new Set(status.tags)] : []
    })
  })
  return settled
}

/** Returns true if the author has reblogged the status already: only one reblog is allowed. */
const repeated = (settled: ReadonlyArray<Settled>, author: number, original: Settled | undefined) =>
  settled.some((other) =>
    other.author === BigInt(author) && other.reblogOf !== undefined && other.reblogOf === original
  )

const distinct = (
  given: ReadonlyArray<readonly [number, number]>
) => [...new Map(given.filter(([a, b]) => a !== b).map((pair) => [pair.join(), pair])).values()]

/** Returns the relations of a world as sets of `from>to`. */
export const relationsOf = (world: World) => {
  const follows = new Map(
    world.follows.filter(({ pair: [a, b] }) => a !== b).map((follow) => [follow.pair.join(">"), follow])
  )
  const mutes = new Map(world.mutes.filter(({ pair: [a, b] }) => a !== b).map((mute) => [mute.pair.join(">"), mute]))
  return {
    follows,
    mutes,
    blocks: new Set(distinct(world.blocks).map((pair) => pair.join(">"))),
    domainBlocks: new Set(world.domainBlocks.map(BigInt))
  }
}

/** Replaces the world in the database with this one. */
export const settle = Effect.fn("World.settle")(function*(world: World) {
  const sql = yield* SqlClient.SqlClient
  const statuses = statusesOf(world)
  const { blocks, domainBlocks, follows, mutes } = relationsOf(world)
  const split = (pair: string) => pair.split(">").map(BigInt)
  const insert = (table: string, rows: ReadonlyArray<Record<string, unknown>>) => {
    const [first, ...rest] = rows
    return first === undefined ? Effect.void : sql`INSERT INTO ${sql(table)} ${sql.insert([first, ...rest])}`
  }

  // Other rows cascade; TRUNCATE would take ten times as long for so few rows.
  yield* sql`DELETE FROM statuses`
  yield* sql`DELETE FROM accounts`
  yield* sql`DELETE FROM tags`
  yield* sql`INSERT INTO accounts (id, username, domain, suspended_at, silenced_at, created_at, updated_at)
    SELECT i, 'account' || i, CASE WHEN i >= 4 THEN 'remote.example' END,
      CASE WHEN i = ${world.suspended} THEN ${now}::timestamptz END,
      CASE WHEN i = ${world.silenced} THEN ${now}::timestamptz END, ${now}, ${now}
    FROM generate_series(1::bigint, ${BigInt(accounts)}) i`
  yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, last_seen_at, created_at)
    SELECT id, id || '@local.example', '', ${now}, ${now}, ${now} FROM accounts WHERE domain IS NULL`
  yield* sql`INSERT INTO account_stats (account_id) SELECT id FROM accounts`
  yield* insert(
    "statuses",
    statuses.map((status) => ({
      id: status.id,
      accountId: status.author,
      visibility: status.visibility,
      localOnly: status.localOnly,
      language: status.reblogOf === undefined ? status.language : null,
      local: !isRemote(status.author),
      html: `<p>${status.id}</p>`,
      text: String(status.id),
      inReplyToId: status.replyTo?.id ?? null,
      inReplyToAccountId: status.replyTo?.author ?? null,
      reblogOfId: status.reblogOf?.id ?? null,
      conversationId: status.conversation,
      createdAt: now,
      deletedAt: status.deleted ? now : null
    }))
  )
  yield* sql`INSERT INTO status_stats (status_id) SELECT id FROM statuses`
  yield* insert(
    "mentions",
    statuses.flatMap(({ id, mentions }) =>
      [...mentions].map(([accountId, { silent }]) => ({ statusId: id, accountId, silent }))
    )
  )
  yield* insert(
    "follows",
    [...follows].map(([pair, { languages, showReblogs }], index) => ({
      id: BigInt(index + 1),
      accountId: split(pair)[0],
      targetAccountId: split(pair)[1],
      showReblogs,
      languages: languages === null ? null : [languages],
      createdAt: now
    }))
  )
  yield* insert(
    "blocks",
    [...blocks].map((pair, index) => ({
      id: BigInt(index + 1),
      accountId: split(pair)[0],
      targetAccountId: split(pair)[1]
    }))
  )
  yield* insert(
    "mutes",
    [...mutes].map(([pair, { allowsReplies, ended, hidesNotifications }], index) => ({
      id: BigInt(index + 1),
      accountId: split(pair)[0],
      targetAccountId: split(pair)[1],
      hideNotifications: hidesNotifications,
      allowReplies: allowsReplies,
      expiresAt: ended ? now : null
    }))
  )
  yield* insert(
    "domainMutes",
    [...domainBlocks].map((accountId, index) => ({ id: BigInt(index + 1), accountId, domain: "remote.example" }))
  )
  yield* insertLists(world, statuses, insert)
  return statuses
})
