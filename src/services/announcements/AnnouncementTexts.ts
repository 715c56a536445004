import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { addressesInText } from "../cards/StatusLinks.ts"
import { rowsOf } from "../database/Rows.ts"
import { parse } from "../discovery/LocalUrls.ts"
import { handle } from "../html/TextTokens.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { type Draft, Drafts, type NamedAccount, namedBy } from "../statuses/Drafts.ts"
import { isPublicRow } from "../statuses/Visibility.ts"

const linkedRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, uri: Schema.NullOr(Schema.String), url: Schema.NullOr(Schema.String) })
)

/** Maximum linked posts shown with an announcement. */
const linkedStatusesMax = 10

/** Rendered text of an announcement, with mentioned accounts and linked posts. */
interface AnnouncementText {
  readonly html: string
  readonly tags: Draft["tags"]
  readonly mentions: ReadonlyArray<NamedAccount>
  readonly statusIds: ReadonlyArray<bigint>
}

/** Renders texts of announcements on each read, so that mentions have current names. */
export class AnnouncementTexts extends Context.Service<AnnouncementTexts, {
  /** Renders texts in order, with two queries for all. */
  readonly compose: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<AnnouncementText>>
}>()("murmuration/services/announcements/AnnouncementTexts") {
  static readonly layer = Layer.effect(
    AnnouncementTexts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const drafts = yield* Drafts

      const idIn = (url: string) => {
        const local = parse(config, url)
        return local?.kind === "status" ? local.id : undefined
      }
      /** Returns a function that finds the public post at a URL. */
      const postsByUrl = Effect.fnUntraced(function*(addresses: ReadonlyArray<string>) {
        const ids = addresses.flatMap((url) => idIn(url) ?? [])
        const rows = addresses.length === 0 ? [] : yield* linkedRows(sql`SELECT s.id, s.uri, s.url FROM statuses s
          WHERE (s.id = ANY (${ids}::bigint[]) OR s.uri = ANY (${addresses}::text[]) OR s.url = ANY (${addresses}::text[]))
            AND s.deleted_at IS NULL AND ${isPublicRow(sql, "s")}`)
        return (url: string) => rows.find((row) => row.id === idIn(url) || row.uri === url || row.url === url)?.id
      })

      const compose = traced("AnnouncementTexts.compose")(function*(texts: ReadonlyArray<string>) {
        const drafted = texts.map((text) => ({ text, names: drafts.names(text) }))
        const all = new Set(drafted.flatMap(({ names }) => [...names.handles]))
        const named = all.size === 0 ? [] : yield* namedBy(sql, all)
        const linked = texts.map((text) => [...new Set(addressesInText(text))].slice(0, linkedStatusesMax))
        const found = yield* postsByUrl([...new Set(linked.flat())])
        return drafted.map(({ names, text }, at): AnnouncementText => {
          const mentions = named.filter(({ domain, username }) =>
            names.handles.has(handle(username, domain ?? undefined))
          )
          const { html, tags } = drafts.write(text, names, mentions)
          return {
            html,
            tags,
            mentions,
            statusIds: [...new Set((linked[at] ?? []).flatMap((url) => found(url) ?? []))]
          }
        })
      }, Effect.orDie)
      return AnnouncementTexts.of({ compose })
    })
  ).pipe(Layer.provide(Drafts.layer))
}
