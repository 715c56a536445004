import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { EmojiReactions } from "../../services/statuses/EmojiReactions.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { StatusReactions } from "../../services/statuses/StatusReactions.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { list, withMembers } from "../wire/Keys.ts"
import { ReactionPath, StatusIdPath } from "../wire/ReadRequests.ts"
import { Status, StatusReactionAccounts } from "../wire/Status.ts"
import * as StatusCommands from "./StatusCommands.ts"

const path = "/api/v1/pleroma/statuses/:id/reactions"
const reading = Access.public("read", "read:statuses")
const reacting = Access.user("write", "write:statuses")
const success = Schema.Array(StatusReactionAccounts)

export class EmojiReactionsGroup extends HttpApiGroup.make("emojiReactions")
  .add(
    HttpApiEndpoint.get("list", path, { params: StatusIdPath, success }).annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:emoji`, { params: ReactionPath, success }).annotate(Access, reading),
    HttpApiEndpoint.put("react", `${path}/:emoji`, { params: ReactionPath, success: Status })
      .annotate(Access, reacting),
    HttpApiEndpoint.delete("unreact", `${path}/:emoji`, { params: ReactionPath, success: Status })
      .annotate(Access, reacting)
  )
  .middleware(Guard)
{}

/** Beyond Mastodon: emoji reactions to statuses, on the routes of Pleroma and Akkoma. */
export const layer = group(
  EmojiReactionsGroup,
  Effect.fn(function*(handlers) {
    const { act, undo } = yield* StatusCommands.make
    const accounts = yield* AccountViews
    const emojis = yield* EmojiReactions
    const reactions = yield* StatusReactions
    const statuses = yield* Statuses

    const show = Effect.fnUntraced(function*(statusId: bigint, name?: string) {
      const viewer = yield* Caller.viewer
      const found = yield* statuses.find(viewer, statusId)
      const id = found.reblogOfId ?? found.id
      const emoji = name === undefined ? undefined : yield* Effect.orDie(emojis.find(id, name))
      const rows = name !== undefined && emoji === undefined ? [] : yield* reactions.people(viewer, id, emoji)
      const people = yield* accounts.byId(new Set(rows.flatMap(({ accountIds }) => accountIds)))
      return Reply.list(
        rows.map(({ accountIds, ...reaction }) =>
          withMembers<StatusReactionAccounts, "accounts">(reaction, {
            accounts: list(accountIds.flatMap((accountId) => people.get(accountId) ?? []))
          })
        )
      )
    })

    return handlers.handleAll({
      list: traced("emojiReactions.list")(({ params }) => show(params.id)),
      show: traced("emojiReactions.show")(({ params }) => show(params.id, params.emoji)),
      react: traced("emojiReactions.react")(({ params }) =>
        act({ _tag: "React", statusId: params.id, name: params.emoji })
      ),
      unreact: traced("emojiReactions.unreact")(({ params }) =>
        undo({ _tag: "Unreact", statusId: params.id, name: params.emoji })
      )
    })
  })
).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
