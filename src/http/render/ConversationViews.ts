import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import type { FilterContext } from "../../services/filters/Filter.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { type ConversationRecord, Conversations } from "../../services/statuses/Conversations.ts"
import type { Conversation } from "../wire/Conversation.ts"
import { type JsonOf, list, none, withMembers } from "../wire/Keys.ts"
import { AccountViews } from "./AccountViews.ts"
import { StatusViews } from "./StatusViews.ts"

/** Conversations as serialised JSON; a list takes the queries of a status page. */
export class ConversationViews extends Context.Service<ConversationViews, {
  readonly render: (
    owner: AccountId,
    records: ReadonlyArray<ConversationRecord>
  ) => Effect.Effect<ReadonlyArray<JsonOf<Conversation>>>
  /** Renders a conversation. With a `context`, one whose last status the owner's filters hide there is not found. */
  readonly renderOne: (
    owner: AccountId,
    id: bigint,
    context?: FilterContext
  ) => Effect.Effect<JsonOf<Conversation>, RecordNotFound>
}>()("murmuration/http/render/ConversationViews") {
  static readonly layerNoDeps = Layer.effect(
    ConversationViews,
    Effect.gen(function*() {
      const conversations = yield* Conversations
      const accounts = yield* AccountViews
      const statuses = yield* StatusViews

      const render = traced("ConversationViews.render")(function*(
        owner: AccountId,
        records: ReadonlyArray<ConversationRecord>
      ) {
        const people = ({ participantIds }: ConversationRecord) =>
          participantIds.length === 0 ? [owner] : participantIds
        const shown = yield* statuses.byId(owner, records.map(({ lastStatusId }) => lastStatusId))
        const named = yield* accounts.byId(new Set(records.flatMap(people)))
        return records.map((record) =>
          withMembers<Conversation, "accounts" | "lastStatus">({ id: String(record.id), unread: record.unread }, {
            accounts: list(people(record).flatMap((id) => named.get(id) ?? [])),
            lastStatus: shown.get(record.lastStatusId) ?? none
          })
        )
      })

      const renderOne = traced("ConversationViews.renderOne")(function*(
        owner: AccountId,
        id: bigint,
        context?: FilterContext
      ) {
        const found = yield* conversations.find(owner, id)
        if (context !== undefined && (yield* statuses.unhidden(owner, [found.lastStatusId], context)).length === 0) {
          return yield* new RecordNotFound()
        }
        const [text] = yield* render(owner, [found])
        return text ?? (yield* new RecordNotFound())
      })
      return ConversationViews.of({ render, renderOne })
    })
  )
  static readonly layer = ConversationViews.layerNoDeps.pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
}
