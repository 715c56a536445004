import { Effect } from "effect"
import type { Settled, World } from "./World.ts"

/* Lists and followed hashtags of a world. */

const tagNames = ["birds", "cats"]
const tagId = (name: string) => BigInt(tagNames.indexOf(name) + 1)
const firstList = 2_000n

/** Returns the lists of a world with their ids, members deduplicated. */
export const listsOf = (world: World) =>
  world.lists.map((list, index) => ({
    ...list,
    id: firstList + BigInt(index),
    owner: BigInt(list.owner),
    accounts: [...new Set(list.accounts)].map(BigInt),
    tags: [...new Set(list.tags)]
  }))

export const tagFollowsOf = (world: World) =>
  [...new Map(world.tagFollows.map((follow) => [`${follow.account} ${follow.tag}`, follow])).values()]
    .map(({ account, tag }) => ({ account: BigInt(account), tag }))

type Insert<E, R> = (table: string, rows: ReadonlyArray<Record<string, unknown>>) => Effect.Effect<unknown, E, R>

export const insertLists = Effect.fnUntraced(
  function*<E, R>(world: World, statuses: ReadonlyArray<Settled>, insert: Insert<E, R>) {
    yield* insert(
      "tags",
      tagNames.map((name) => ({ id: tagId(name), name, displayName: name, createdAt: new Date(0) }))
    )
    yield* insert(
      "statusesTags",
      statuses.flatMap(({ id, tags }) => tags.map((tag) => ({ tagId: tagId(tag), statusId: id })))
    )
    const lists = listsOf(world)
    yield* insert(
      "lists",
      lists.map(({ exclusive, id, owner, repliesPolicy }) => ({
        id,
        accountId: owner,
        title: `list ${id}`,
        repliesPolicy,
        exclusive
      }))
    )
    // Ids in order of insertion, accounts and hashtags in turn.
    let member = 0n
    yield* insert(
      "listAccounts",
      lists.flatMap(({ accounts, id }) => accounts.map((accountId) => ({ id: member += 2n, listId: id, accountId })))
    )
    member = 1n
    yield* insert(
      "listTags",
      lists.flatMap(({ id, tags }) => tags.map((tag) => ({ id: member += 2n, listId: id, tagId: tagId(tag) })))
    )
    yield* insert(
      "tagFollows",
      tagFollowsOf(world).map(({ account, tag }) => ({ id: member += 2n, accountId: account, tagId: tagId(tag) }))
    )
  }
)
