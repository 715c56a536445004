import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { Notifications } from "../../src/services/feeds/Notifications.ts"
import { Timelines } from "../../src/services/feeds/Timelines.ts"
import { AccountStatuses } from "../../src/services/statuses/AccountStatuses.ts"
import { Contexts } from "../../src/services/statuses/Contexts.ts"
import { Conversations } from "../../src/services/statuses/Conversations.ts"
import { Interactions } from "../../src/services/statuses/Interactions.ts"
import { visibleTo } from "../../src/services/statuses/Visibility.ts"
import { type Facts, pair } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"
import type { Model } from "./Model.ts"

const everything = { local: false, remote: false, onlyMedia: false }
const page = { limit: 1000 }
const selection = {
  onlyMedia: false,
  excludeReplies: false,
  excludeReblogs: false,
  excludeDirect: false,
  tagged: undefined
}

const services = Layer.mergeAll(
  AccountStatuses.layer,
  Contexts.layer,
  Conversations.layer,
  Interactions.layer,
  Notifications.layer.pipe(Layer.provide(Broadcast.layerMemory)),
  Timelines.layer
)

/** Returns ids from every endpoint through which a viewer reads statuses; `looksAt` are the profiles that it opens. */
const paths = Effect.fnUntraced(function*(viewer: AccountId | undefined, looksAt: ReadonlyArray<AccountId>) {
  const accounts = yield* AccountStatuses
  const timelines = yield* Timelines
  const seen: Array<readonly [path: string, ids: ReadonlyArray<bigint>]> = [
    ["public timeline", yield* timelines.publicTimeline(viewer, everything, page)],
    ["tag", yield* timelines.tagged(viewer, { ...everything, name: "birds", any: [], all: [], none: [] }, page)]
  ]
  for (const account of looksAt) {
    seen.push(["statuses of an account", yield* accounts.page(viewer, account, selection, page)])
    seen.push(["pinned", yield* accounts.pinned(viewer, account)])
  }
  if (viewer === undefined) return seen
  const notifications = yield* (yield* Notifications).page(
    viewer,
    { types: [], excludeTypes: [], accountId: undefined, includeFiltered: true },
    page
  )
  const favourites = yield* (yield* Interactions).favouritesOf(viewer, page)
  const conversations = yield* (yield* Conversations).page(viewer, page)
  seen.push(["notifications", notifications.flatMap(({ statusId }) => statusId ?? [])])
  seen.push(["favourites", favourites.map(({ statusId }) => statusId)])
  // A conversation shows its newest status to its participants as long as the status exists.
  seen.push(["conversations", conversations.map(({ lastStatusId }) => lastStatusId)])
  return seen
})

/**
 * I10: no read path shows what an accepted command deleted, by the record of commands rather than a mark in the row.
 * I11: none shows what the rules in plain code hide from the viewer.
 */
export const check = Effect.fnUntraced(function*(aftermath: Aftermath, facts: Facts, model: Model) {
  const { people, shared: { sql }, world } = aftermath
  const context = yield* Layer.build(services).pipe(Effect.provideService(SqlClient.SqlClient, sql))
  const broken: Array<string> = []
  // No command publishes imported posts.
  const imported = new Set((yield* sql<{ id: bigint }>`SELECT id FROM statuses WHERE imported`).map(({ id }) => id))
  for (const [n, viewer] of [undefined, ...people].entries()) {
    const looksAt = [people[n % people.length]!, people[(n + 1 + world.seed) % people.length]!]
    const seen = yield* paths(viewer, looksAt).pipe(Effect.provideContext(context))
    for (const [path, ids] of seen) {
      for (const id of ids) {
        if (imported.has(id)) continue
        if (model.statuses.get(id)?.deleted !== false) broken.push(`I10: ${path} shows ${viewer} the deleted ${id}`)
        if (path !== "conversations" && !facts.canSee(viewer, id)) {
          broken.push(`I11: ${path} shows ${viewer} the hidden ${id}`)
        }
      }
    }
  }
  const visible = yield* sql<{ viewer: bigint; id: bigint }>`
    SELECT a.id AS viewer, s.id FROM accounts a, statuses s WHERE ${visibleTo(sql, sql`a.id`, "s")}`
  const pairs = new Set(visible.map(({ id, viewer }) => pair(viewer, id)))
  for (const [id, { deleted }] of model.statuses) {
    for (const viewer of people) {
      const shown = pairs.has(pair(viewer, id))
      if (shown && deleted) broken.push(`I10: ${viewer} sees the deleted ${id}`)
      if (shown !== facts.canSee(viewer, id)) broken.push(`I11: ${viewer} ${shown ? "sees" : "does not see"} ${id}`)
    }
  }
  const threads = yield* sql<{ id: bigint }>`SELECT DISTINCT unnest(status_ids) AS id FROM account_conversations`
  for (const { id } of threads) {
    if (model.statuses.get(id)?.deleted !== false) broken.push(`I10: a conversation holds the deleted ${id}`)
  }
  return broken
})
