import { Context, Effect, Layer } from "effect"
import type { Reaction as ReactionRecord } from "../../services/announcements/Announcement.ts"
import { Announcements, type Published } from "../../services/announcements/Announcements.ts"
import { AnnouncementTexts } from "../../services/announcements/AnnouncementTexts.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import type { Emoji } from "../../services/instance/Emoji.ts"
import { textNodes } from "../../services/instance/ForeignEmojis.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { NamedAccount } from "../../services/statuses/Drafts.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import type { Announcement, Reaction, ReactionEvent } from "../wire/Announcement.ts"
import { id, timestamp, timestampOrNull } from "../wire/Common.ts"
import { json, type JsonOf, list, type Values, withMembers } from "../wire/Keys.ts"
import { emojiValues } from "./AccountValues.ts"
import { StatusViews } from "./StatusViews.ts"

/** Announcements as serialised JSON, in a fixed number of queries. */
export class AnnouncementViews extends Context.Service<AnnouncementViews, {
  readonly published: (
    viewer: Viewer,
    withDismissed: boolean
  ) => Effect.Effect<ReadonlyArray<JsonOf<Announcement>>>
  /** Returns an announcement without viewer-specific fields; undefined if it is not published. */
  readonly forStreams: (id: bigint) => Effect.Effect<JsonOf<Announcement> | undefined>
  readonly reactionForStreams: (id: bigint, name: string) => Effect.Effect<JsonOf<ReactionEvent> | undefined>
}>()("murmuration/http/render/AnnouncementViews") {
  static readonly layer = Layer.effect(
    AnnouncementViews,
    Effect.gen(function*() {
      const config = yield* ServerConfig
      const announcements = yield* Announcements
      const texts = yield* AnnouncementTexts
      const emojis = yield* CustomEmojis
      const statuses = yield* StatusViews

      const own = Effect.map(emojis.enabled, (all) => new Map(all.map((emoji) => [emoji.shortcode, emoji])))

      const render = Effect.fnUntraced(function*(viewer: Viewer, rows: ReadonlyArray<Published>) {
        if (rows.length === 0) return []
        const [composed, reactions, emojiByName, find] = yield* Effect.all([
          texts.compose(rows.map(({ text }) => text)),
          announcements.reactions(viewer, rows.map((row) => row.id)),
          own,
          emojis.finder
        ])
        const shown = yield* statuses.byId(viewer, [...new Set(composed.flatMap(({ statusIds }) => statusIds))])
        return rows.flatMap((row, at) => {
          const text = composed[at]
          if (text === undefined || row.publishedAt === null) return []
          const { mentions, statusIds } = text
          return withMembers<Announcement, "statuses">({
            id: id(row.id),
            content: text.html,
            startsAt: timestampOrNull(row.startsAt),
            endsAt: timestampOrNull(row.endsAt),
            allDay: row.allDay,
            publishedAt: timestamp(row.publishedAt),
            updatedAt: timestamp(row.updatedAt),
            ...(viewer !== undefined && { read: row.read }),
            mentions: mentions.map((mention) => mentionValues(config, mention)),
            tags: text.tags.map(({ name }) => ({ name, url: Urls.tag(config, name) })),
            emojis: find(textNodes(text.html)).map(emojiValues),
            reactions: reactions.filter(({ announcementId }) => announcementId === row.id)
              .map((reaction) => reactionValues(viewer, reaction, emojiByName))
          }, { statuses: list(statusIds.flatMap((one) => shown.get(one) ?? [])) })
        })
      })

      return AnnouncementViews.of({
        published: traced("AnnouncementViews.published")(function*(viewer: Viewer, withDismissed: boolean) {
          return yield* render(viewer, yield* announcements.published(viewer, { withDismissed }))
        }),
        forStreams: traced("AnnouncementViews.forStreams")(function*(announcement: bigint) {
          const [text] = yield* render(undefined, yield* announcements.published(undefined, { id: announcement }))
          return text
        }),
        reactionForStreams: traced("AnnouncementViews.reactionForStreams")(
          function*(announcement: bigint, name: string) {
            const found = yield* announcements.published(undefined, { id: announcement })
            if (found.length === 0) return undefined
            const reaction = (yield* announcements.reactions(undefined, [announcement]))
              .find((one) => one.name === name) ?? { announcementId: announcement, name, count: 0, me: false }
            return json<ReactionEvent>({
              ...reactionValues(undefined, reaction, yield* own),
              announcementId: id(announcement)
            })
          }
        )
      })
    })
  ).pipe(Layer.provide([AnnouncementTexts.layer, StatusViews.layer]))
}

const mentionValues = (config: ServerConfig["Service"], mention: NamedAccount) => ({
  id: id(mention.id),
  username: mention.username,
  url: mention.url ?? Urls.profile(config, mention.username),
  acct: Urls.acct(mention)
})

const reactionValues = (
  viewer: Viewer,
  { count, me, name }: ReactionRecord,
  emojis: ReadonlyMap<string, Emoji>
): Values<Reaction> => {
  const emoji = emojis.get(name)
  return {
    name,
    count,
    ...(viewer !== undefined && { me }),
    ...(emoji !== undefined && { url: emoji.url, staticUrl: emoji.staticUrl })
  }
}
