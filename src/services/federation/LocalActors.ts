import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Cache from "../caching/Cache.ts"
import { Changes } from "../caching/Changes.ts"
import { rowsOf } from "../database/Rows.ts"
import { Accounts, type FoundAccount } from "../identity/Accounts.ts"
import { Handles } from "../identity/Handles.ts"
import { CustomEmojis } from "../instance/CustomEmojis.ts"
import type { LocalName } from "../instance/LocalNames.ts"
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

/** A local account with its names. */
interface LocalActor extends FoundAccount {
  readonly username: string
  readonly actorPath: LocalIds.ActorPath
}

/**
 * Local accounts by name, for requests of other servers. A suspended account shows only its document, which says so.
 */
export class LocalActors extends Context.Service<LocalActors, {
  /** Finds an account by its username, case-insensitively, or by its id. Fails with Gone if it was deleted. */
  readonly find: (name: LocalName) => Effect.Effect<LocalActor, RecordNotFound | Gone>
  /** As `find`, but fails with NotAllowed for suspended accounts. */
  readonly open: (name: LocalName) => Effect.Effect<LocalActor, RecordNotFound | Gone | NotAllowed>
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

      /** Keys are usernames in lower case, and ids. Missing accounts are not cached. */
      const names = yield* Cache.make<LocalName, LocalActor>({
        rows: ({ id }) => [["account", id], ["user", id]],
        max: { entries: namesMax },
        aloneMillisMax: 0
      })

      const find = traced("LocalActors.find")((asked: LocalName) =>
        names.get(typeof asked === "string" ? asked.toLowerCase() : asked, stored(asked))
      )

      const stored = Effect.fnUntraced(function*(asked: LocalName) {
        const { actorPath, id, username } = yield* handles.find(asked)
        return { ...(yield* accounts.find(id)), actorPath, username }
      })

      const document = traced("LocalActors.document")(function*({ id }: FoundAccount) {
        const loaded = new Map((yield* accounts.load([id])).map((record) => [record.id, record]))
        const record = loaded.get(id)
        if (record === undefined || record.domain !== null) return yield* new RecordNotFound()
        const moved = record.movedToId === null ? undefined : loaded.get(record.movedToId)
        const movedTo = moved === undefined ? undefined : moved.uri ?? LocalIds.actor(config, moved.actorPath)
        const own = yield* keys.ofAccount(record)
        const named = yield* emojis.finder
        const used = named(
          record.displayName,
          record.noteHtml,
          ...record.fields.flatMap(({ html, name }) => [name, html])
        )
        const [linked = { alsoKnownAs: [], attributionDomains: [], note: "" }] = yield* linkedRows(sql`
          SELECT also_known_as, attribution_domains, note FROM accounts WHERE id = ${id}`).pipe(Effect.orDie)
        return actorDocument(config, record, own, used, { ...linked, movedTo })
      })

      return LocalActors.of({
        find,
        open: (name) =>
          Effect.flatMap(find(name), (found) => found.suspended ? new NotAllowed() : Effect.succeed(found)),
        document,
        instance: Effect.map(keys.ofInstance, (own) => instanceDocument(config, own))
      })
    })
  ).pipe(Layer.provide(Changes.layer))
  static readonly layer = LocalActors.layerNoDeps.pipe(Layer.provide(SigningKeys.layer))
}
