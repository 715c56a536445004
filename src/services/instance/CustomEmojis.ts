import { Clock, Context, Effect, Layer, PubSub, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../Broadcast.ts"
import { traced } from "../Traced.ts"
import type { Emoji } from "./Emoji.ts"
import * as ForeignEmojis from "./ForeignEmojis.ts"
import { ServerConfig } from "./ServerConfig.ts"
import * as Urls from "./Urls.ts"

/** Emoji of this server that are kept in memory, the oldest. */
const customEmojisMax = 10_000
/** How long the set in memory is believed, while changes of it are heard of and while they are not (milliseconds). */
const customEmojiMillisMax = 30_000
const customEmojiAloneMillisMax = 1_000

const shortcodes = /:([a-zA-Z0-9_]{2,128}):/g

interface Row extends Pick<Emoji, "id" | "shortcode" | "visibleInPicker" | "category" | "updatedAt"> {
  readonly url: string | null
  readonly staticUrl: string | null
  readonly fileName: string | null
  readonly staticName: string | null
}

/** This server's own emoji; remote ones belong to their accounts' servers. */
export class CustomEmojis extends Context.Service<CustomEmojis, {
  /** Enabled and listed ones (S-093, S-159). */
  readonly listed: Effect.Effect<ReadonlyArray<Emoji>>
  /** All that texts may name, unlisted ones too. */
  readonly enabled: Effect.Effect<ReadonlyArray<Emoji>>
  /** A function that finds the enabled emoji that texts name, unlisted ones too, each once. */
  readonly finder: Effect.Effect<(...texts: ReadonlyArray<string>) => ReadonlyArray<Emoji>>
  /** The same for texts of whomever: those of other servers name their own emoji, all of them in one query. */
  readonly finderOf: (
    sources: ReadonlyArray<ForeignEmojis.EmojiSource>
  ) => Effect.Effect<(source: ForeignEmojis.EmojiSource) => ReadonlyArray<Emoji>>
  /** Calls back after any emoji changed and this service knows, as long as the scope is open. */
  readonly whenChanged: (forget: () => void) => Effect.Effect<void, never, Scope.Scope>
}>()("murmuration/services/instance/CustomEmojis") {
  static readonly layer = Layer.effect(
    CustomEmojis,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const broadcast = yield* Broadcast
      const none: ReadonlyMap<string, Emoji> = new Map()
      let known = { loadedAt: Number.NEGATIVE_INFINITY, byShortcode: none }
      let changes = 0
      const forgetting = new Set<() => void>()

      const subscription = yield* broadcast.subscribe
      yield* PubSub.take(subscription).pipe(
        Effect.tap((message) =>
          Effect.sync(() => {
            if (message._tag !== "Changed" || message.kind !== "emojis") return
            changes++
            known = { ...known, loadedAt: Number.NEGATIVE_INFINITY }
            for (const forget of forgetting) forget()
          })
        ),
        Effect.forever,
        Effect.forkScoped
      )

      const toEmoji = ({ fileName, staticName, staticUrl, url, ...row }: Row): Emoji => {
        const address = fileName === null ? url ?? "" : Urls.file(config, fileName)
        const still = staticName === null ? staticUrl : Urls.file(config, staticName)
        return { ...row, url: address, staticUrl: still ?? address }
      }

      const enabled = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const millisMax = (yield* broadcast.connected) ? customEmojiMillisMax : customEmojiAloneMillisMax
        if (now - known.loadedAt < millisMax && now >= known.loadedAt) return known.byShortcode
        const began = changes
        const rows = yield* sql<Row>`
          SELECT id, shortcode, url, static_url, file_name, static_name, visible_in_picker, category, coalesce(updated_at, created_at) AS updated_at
          FROM custom_emojis
          WHERE domain IS NULL AND NOT disabled ORDER BY id LIMIT ${customEmojisMax}`
        const byShortcode = new Map(rows.map((row) => [row.shortcode, toEmoji(row)]))
        // A change that was heard of meanwhile may not be among the rows.
        known = { loadedAt: began === changes ? now : Number.NEGATIVE_INFINITY, byShortcode }
        return byShortcode
      }).pipe(Effect.orDie)

      const finder = Effect.map(enabled, (all) => (...texts: ReadonlyArray<string>) => {
        if (all.size === 0) return []
        const named = new Set(texts.flatMap((text) => Array.from(text.matchAll(shortcodes), (match) => match[1])))
        return [...named].flatMap((shortcode) => {
          const emoji = shortcode === undefined ? undefined : all.get(shortcode)
          return emoji === undefined ? [] : [emoji]
        })
      })

      return CustomEmojis.of({
        enabled: Effect.map(enabled, (all) => [...all.values()]).pipe(Effect.withSpan("CustomEmojis.enabled")),
        listed: Effect.map(enabled, (all) => [...all.values()].filter(({ visibleInPicker }) => visibleInPicker))
          .pipe(Effect.withSpan("CustomEmojis.listed")),
        finder,
        finderOf: traced("CustomEmojis.finderOf")(function*(sources) {
          const own = yield* finder
          const foreign = yield* ForeignEmojis.load(sql, config, sources)
          return (source: ForeignEmojis.EmojiSource) => source.local ? own(...source.texts) : foreign(source)
        }, Effect.orDie),
        whenChanged: (forget) =>
          Effect.asVoid(Effect.acquireRelease(
            Effect.sync(() => forgetting.add(forget)),
            () => Effect.sync(() => forgetting.delete(forget))
          ))
      })
    })
  )
}
