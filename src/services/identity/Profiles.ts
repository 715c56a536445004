import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { field, paragraphs } from "../html/Compose.ts"
import { FileOwners } from "../media/FileOwners.ts"
import { Conflict } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { Drafts } from "../statuses/Drafts.ts"

/** A profile field as its owner wrote it. */
interface ProfileField {
  readonly name: string
  readonly value: string
}

/** A picture by the names of its stored files, `staticName` if it is animated; null removes it. */
type ProfilePicture = {
  readonly name: string
  readonly staticName: string | null
  readonly likeness?: bigint
} | null

/** Columns of `accounts` that the owner writes; absent ones stay unchanged. */
interface ProfileValues {
  readonly displayName?: string
  readonly note?: string
  readonly fields?: ReadonlyArray<ProfileField>
  readonly locked?: boolean
  readonly bot?: boolean
  readonly discoverable?: boolean
  readonly indexable?: boolean
  readonly hideCollections?: boolean
  readonly showMedia?: boolean
  readonly showMediaReplies?: boolean
  readonly showFeatured?: boolean
  readonly avatar?: ProfilePicture
  readonly header?: ProfilePicture
  readonly avatarDescription?: string
  readonly headerDescription?: string
  readonly attributionDomains?: ReadonlyArray<string>
}

/** Columns of `users`: defaults of new posts, and preferences for reading and visibility. */
interface UserValues {
  readonly defaultVisibility?: string
  readonly defaultSensitive?: boolean
  readonly defaultLanguage?: string | null
  readonly defaultQuotePolicy?: string
  readonly chosenLanguages?: ReadonlyArray<string>
  readonly locale?: string | null
  readonly timeZone?: string | null
  readonly showApplication?: boolean
  readonly noindex?: boolean
  readonly expandMedia?: string
  readonly expandSpoilers?: boolean
  readonly autoplayGifs?: boolean
  readonly emailSubscriptions?: boolean
}

const pictureRows = rowsOf(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
const provenRows = rowsOf(Schema.Struct({ value: Schema.String, verifiedAt: Schema.String }))

/** Writes profiles, inside the transaction of the owner's command. */
export class Profiles extends Context.Service<Profiles, {
  readonly change: (
    accountId: bigint,
    values: ProfileValues,
    user: UserValues
  ) => Effect.Effect<void, Conflict | SqlError>
}>()("murmuration/services/identity/Profiles") {
  static readonly layer = Layer.effect(
    Profiles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const drafts = yield* Drafts
      const fileOwners = yield* FileOwners

      const change = traced("Profiles.change")(function*(
        accountId: bigint,
        { avatar, fields, header, note, ...plain }: ProfileValues,
        user: UserValues
      ) {
        const columns: Record<string, unknown> = { ...plain, updatedAt: new Date(yield* Clock.currentTimeMillis) }
        if (note !== undefined) {
          columns.note = note
          columns.noteHtml = paragraphs(note, yield* drafts.meaning(note))
        }
        if (fields !== undefined) {
          // A verified link stays verified while its value stays the same.
          const proven = yield* provenRows(sql`
            SELECT field ->> 'value' AS value, field ->> 'verifiedAt' AS verified_at
            FROM accounts, jsonb_array_elements(fields) field WHERE id = ${accountId} AND field ->> 'verifiedAt' IS NOT NULL`)
          const verified = new Map(proven.map((field) => [field.value, field.verifiedAt]))
          const meaning = yield* drafts.meaning(fields.map(({ value }) => value).join("\n"))
          columns.fields = JSON.stringify(
            fields.map(({ name, value }) => ({
              name,
              value,
              html: field(value, meaning),
              verifiedAt: verified.get(value) ?? null
            }))
          )
        }
        const pictures = [avatar, header].filter((picture) => picture !== undefined)
        if (pictures.length > 0) {
          const [old] = yield* pictureRows(sql`SELECT
            ${sql.literal(avatar === undefined ? "NULL AS a, NULL AS b" : "avatar_name AS a, avatar_static_name AS b")},
            ${sql.literal(header === undefined ? "NULL AS c, NULL AS d" : "header_name AS c, header_static_name AS d")}
            FROM accounts WHERE id = ${accountId} FOR UPDATE`)
          yield* fileOwners.release(Object.values(old ?? {}).flatMap((name) => name ?? []))
          const names = pictures.flatMap((picture) =>
            picture === null ? [] : picture.staticName === null ? [picture.name] : [picture.name, picture.staticName]
          )
          if (!(yield* fileOwners.hold(names, { accountId }))) return yield* new Conflict()
          if (avatar !== undefined) {
            columns.avatarName = avatar?.name ?? null
            columns.avatarStaticName = avatar?.staticName ?? null
            columns.avatarHash = avatar?.likeness ?? null
          }
          if (header !== undefined) {
            columns.headerName = header?.name ?? null
            columns.headerStaticName = header?.staticName ?? null
          }
        }
        yield* tracked("account", [accountId])(sql`UPDATE accounts SET ${sql.update(columns)} WHERE id = ${accountId}`)
        if (Object.keys(user).length > 0) {
          // Cached posts name the app that they were written with.
          yield* tracked("moderation", user.showApplication === undefined ? [] : [accountId])(
            tracked("user", [accountId])(
              sql`UPDATE users SET ${sql.update({ ...user })} WHERE account_id = ${accountId}`
            )
          )
        }
      })
      return Profiles.of({ change })
    })
  )
}
