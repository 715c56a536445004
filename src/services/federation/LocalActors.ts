import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Cache from "../caching/Cache.ts"
import { Changes } from "../caching/Changes.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { Accounts, type FoundAccount } from "../identity/Accounts.ts"
import { Handles } from "../identity/Handles.ts"
import { CustomEmojis } from "../instance/CustomEmojis.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { type Gone, NotAllowed, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { actorDocument, instanceDocument, Linked } from "./documents/ActorDocument.ts"
import type { Document } from "./documents/Vocabulary.ts"
import * as LocalIds from "./LocalIds.ts"
import { SigningKeys } from "./SigningKeys.ts"

/** Maximum local accounts cached by name, per process. */
const namesMax = 20_000

const linkedRows = rowsOf(Linked)

/**
 * Local accounts by name, for requests of other servers. A suspended account shows only its document, which says so.
 */
export class LocalActors extends Context.Service<LocalActors, {
  /** Finds an account by its name, case-insensitively. Fails with Gone if it was deleted. */
  readonly find: (
    username: string
  ) => Effect.Effect<FoundAccount & { readonly username: string }, RecordNotFound | Gone>
  /** As `find`, but fails with NotAllowed for suspended accounts. */
  readonly open: (
    username: string
  ) => Effect.Effect<FoundAccount & { readonly username: string }, RecordNotFound | Gone | NotAllowed>
  readonly document: (account: FoundAccount) => Effect.Effect<Document, RecordNotFound>
  readonly instance: Effect.Effect<Document>
}>()("murmuration/services/federation/LocalActors") {
  static readonly layerNoDeps = Layer.effect(
    LocalActors,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const emojis = yield* CustomEmojis
      const config = yield* ServerConfig
      const handles = yield* Handles
      const keys = yield* SigningKeys

      /** Keys are names in lower case. Missing accounts are not cached. */
      const names = yield* Cache.make<string, FoundAccount & { readonly username: string }>({
        rows: ({ id }) => [["account", id], ["user", id]],
        max: { entries: namesMax },
        aloneMillisMax: 0
      })

      const find = traced("LocalActors.find")((asked: string) => names.get(asked.toLowerCase(), stored(asked)))

      const stored = Effect.fnUntraced(function*(asked: string) {
        const { username } = yield* handles.find(asked)
        const [row] = yield* idRows(sql`SELECT id FROM accounts
          WHERE lower(username) = ${username.toLowerCase()} AND domain IS NULL`).pipe(Effect.orDie)
        if (row === undefined) return yield* new RecordNotFound()
        return { ...(yield* accounts.find(row.id)), username }
      })

      const document = traced("LocalActors.document")(function*({ id }: FoundAccount) {
        const loaded = new Map((yield* accounts.load([id])).map((record) => [record.id, record]))
        const record = loaded.get(id)
        if (record === undefined || record.domain !== null) return yield* new RecordNotFound()
        const moved = record.movedToId === null ? undefined : loaded.get(record.movedToId)
        const movedTo = moved === undefined ? undefined : moved.uri ?? LocalIds.actor(config, moved.username)
        const { publicPem } = yield* keys.ofAccount(record)
        const named = yield* emojis.finder
        const used = named(
          record.displayName,
          record.noteHtml,
          ...record.fields.flatMap(({ html, name }) => [name, html])
        )
        const [linked = { alsoKnownAs: [], attributionDomains: [], note: "" }] = yield* linkedRows(sql`
          SELECT also_known_as, attribution_domains, note FROM accounts WHERE id = ${id}`).pipe(Effect.orDie)
        return actorDocument(config, record, publicPem, used, { ...linked, movedTo })
      })

      return LocalActors.of({
        find,
        open: (username) =>
          Effect.flatMap(find(username), (found) => found.suspended ? new NotAllowed() : Effect.succeed(found)),
        document,
        instance: Effect.map(keys.ofInstance, ({ publicPem }) => instanceDocument(config, publicPem))
      })
    })
  ).pipe(Layer.provide(Changes.layer))
  static readonly layer = LocalActors.layerNoDeps.pipe(Layer.provide(SigningKeys.layer))
}
