import { Cause, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { Filters } from "../../src/services/filters/Filters.ts"
import { prepareText } from "../../src/services/filters/FilterText.ts"
import { bounded } from "../../src/services/text/BoundedText.ts"
import type { Node } from "./Node.ts"
import { Dice } from "./Seeded.ts"
import type { Shared, World } from "./World.ts"

const changesMax = 10
const changePauseMillisMax = 1_500
const words = ["post", "hi", "quiet", "birds", "psst", "edited"]

/** Returns the ids of an owner's filters that match a word on a node; undefined if the node does not respond. */
const ask = (world: World, { filters, machine }: Node, owner: AccountId, word: string) =>
  machine.on(world.outside)(filters.of([owner])).pipe(
    Effect.map((found) =>
      found.get(owner)?.match([], prepareText([bounded(`Some ${word}!`)])).map(({ filter }) => filter.id) ?? []
    ),
    Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.succeed(undefined) }),
    Effect.catchCause(() => Effect.succeed(undefined))
  )

/** In some seeds users change their filters, and read through any node in the meantime. */
export const changeRepeatedly = Effect.fnUntraced(
  function*(world: World, { outsideBus, sql }: Shared, people: ReadonlyArray<AccountId>, nodes: ReadonlyArray<Node>) {
    const dice = new Dice(world.seed, "filters")
    if (dice.chance(0.5)) return
    const context = yield* Layer.build(
      Layer.fresh(Filters.layer).pipe(
        Layer.provide([Layer.succeed(SqlClient.SqlClient, sql), Layer.succeed(Broadcast, outsideBus)])
      )
    )
    const filters = Context.get(context, Filters)
    for (let n = 0; n < changesMax; n++) {
      yield* Effect.sleep(dice.between(100, changePauseMillisMax))
      const owner = dice.pick(people.slice(0, 3))
      const keyword = { keyword: dice.pick(words) }
      const own = yield* filters.list(owner)
      const known = own.length === 0 ? undefined : dice.pick(own)
      const kind = dice.pick(["create", "remove", "change", "change"])
      if (known === undefined || kind === "create") {
        yield* filters.create(owner, { title: keyword.keyword, contexts: ["home"], keywords: [keyword] })
      } else if (kind === "remove") yield* filters.remove(owner, known.id)
      else {
        const gone = known.keywords.map(({ id }) => ({ id, remove: true }))
        yield* filters.update(
          owner,
          (all) => Effect.succeed([all.find(({ id }) => id === known.id) ?? known, { keywords: [...gone, keyword] }])
        )
      }
      world.count("filter changed")
      if (nodes.length > 0) yield* ask(world, dice.pick(nodes), owner, keyword.keyword)
    }
  },
  Effect.scoped,
  // If the database is down, their apps show an error.
  Effect.catchCause((cause) => isSqlError(Cause.squash(cause)) ? Effect.void : Effect.failCause(cause)),
  (changing) => Effect.ignore(changing)
)

/** I23: every node that responds filters by the current rows. */
export const check = Effect.fnUntraced(
  function*(world: World, { sql }: Shared, people: ReadonlyArray<AccountId>, nodes: ReadonlyArray<Node>) {
    const rows = yield* sql<{ id: bigint; accountId: bigint; keyword: string }>`
      SELECT f.id, f.account_id, k.keyword FROM filters f JOIN filter_keywords k ON k.filter_id = f.id ORDER BY f.id`
    const broken: Array<string> = []
    for (const node of nodes) {
      for (const owner of people) {
        for (const word of words) {
          const expected = rows.filter(({ accountId, keyword }) => accountId === owner && keyword === word)
          const found = yield* ask(world, node, owner, word)
          if (found === undefined || found.join() === expected.map(({ id }) => id).join()) continue
          broken.push(`I23: ${node.machine.name} filters "${word}" by [${found.join()}] for ${owner}`)
        }
      }
    }
    return broken
  }
)
