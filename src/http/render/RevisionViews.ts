import { Context, Effect, Layer, Struct } from "effect"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { textNodes } from "../../services/instance/ForeignEmojis.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { Revision } from "../../services/statuses/History.ts"
import { textsOf, written } from "../../services/statuses/Written.ts"
import { timestamp } from "../wire/Common.ts"
import { asJsonOf, type JsonOf, withMembers } from "../wire/Keys.ts"
import type { Quote, StatusEdit } from "../wire/Status.ts"
import { emojiValues } from "./AccountValues.ts"
import { AccountViews } from "./AccountViews.ts"
import { mediaValues } from "./MediaValues.ts"

/** Versions of a status as serialised JSON; takes the queries of an account list. */
export class RevisionViews extends Context.Service<RevisionViews, {
  /** Renders versions with the quote of their status, which is not part of a version. */
  readonly render: (
    revisions: ReadonlyArray<Revision>,
    quote: JsonOf<Quote> | undefined
  ) => Effect.Effect<ReadonlyArray<JsonOf<StatusEdit>>>
}>()("murmuration/http/render/RevisionViews") {
  static readonly layerNoDeps = Layer.effect(
    RevisionViews,
    Effect.gen(function*() {
      const accounts = yield* AccountViews
      const config = yield* ServerConfig
      const emojis = yield* CustomEmojis
      const render = traced("RevisionViews.render")(function*(
        revisions: ReadonlyArray<Revision>,
        quote: JsonOf<Quote> | undefined
      ) {
        const people = yield* accounts.byId(new Set(revisions.map(({ accountId }) => accountId)))
        const sourceOf = (revision: Revision) => ({
          uri: revision.uri,
          local: revision.local,
          texts: [textNodes(revision.html), ...textsOf(revision), ...revision.pollOptions ?? []]
        })
        const named = yield* emojis.finderOf(revisions.map(sourceOf))
        return yield* renderedRows("revision of a status by", revisions, ({ accountId }) => accountId, (revision) => {
          const account = people.get(revision.accountId)
          if (account === undefined) return undefined
          const shown = withMembers<StatusEdit, "account">({
            content: revision.html,
            ...Struct.omit(written(revision), ["language"]),
            createdAt: timestamp(revision.createdAt),
            mediaAttachments: revision.media.map((media) => mediaValues(config, media)),
            emojis: named(sourceOf(revision)).map(emojiValues),
            ...(revision.pollOptions === null
              ? {}
              : { poll: { options: revision.pollOptions.map((title) => ({ title })) } })
          }, { account })
          return quote === undefined ? shown : asJsonOf<StatusEdit>(`${shown.slice(0, -1)},"quote":${quote}}`)
        })
      })
      return RevisionViews.of({ render })
    })
  )
  static readonly layer = RevisionViews.layerNoDeps.pipe(Layer.provide(AccountViews.layer))
}
