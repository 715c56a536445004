import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { field, paragraphs } from "../html/Compose.ts"
import { Drafts } from "../statuses/Drafts.ts"
import { traced } from "../Traced.ts"

/** A profile field as its owner wrote it. */
export interface ProfileField {
  readonly name: string
  readonly value: string
}

/** Columns of `accounts` that their owner writes; an absent one stays. */
export interface ProfileValues {
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
  readonly avatarDescription?: string
  readonly headerDescription?: string
  readonly attributionDomains?: ReadonlyArray<string>
}

/** Columns of `users`: what new statuses take over. */
export interface PostingDefaults {
  readonly defaultVisibility?: string
  readonly defaultSensitive?: boolean
  readonly defaultLanguage?: string | null
  readonly defaultQuotePolicy?: string
}

/** Profiles, written inside the transaction of their owner's command. */
export class Profiles extends Context.Service<Profiles, {
  readonly change: (
    accountId: bigint,
    values: ProfileValues,
    defaults: PostingDefaults
  ) => Effect.Effect<void, SqlError>
}>()("murmuration/services/identity/Profiles") {
  static readonly layer = Layer.effect(
    Profiles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const drafts = yield* Drafts

      const change = traced("Profiles.change")(function*(
        accountId: bigint,
        { fields, note, ...plain }: ProfileValues,
        defaults: PostingDefaults
      ) {
        const columns: Record<string, unknown> = { ...plain, updatedAt: new Date(yield* Clock.currentTimeMillis) }
        if (note !== undefined) {
          columns.note = note
          columns.noteHtml = paragraphs(note, yield* drafts.meaning(note))
        }
        if (fields !== undefined) {
          const meaning = yield* drafts.meaning(fields.map(({ value }) => value).join("\n"))
          columns.fields = JSON.stringify(
            fields.map(({ name, value }) => ({ name, value, html: field(value, meaning), verifiedAt: null }))
          )
        }
        yield* sql`UPDATE accounts SET ${sql.update(columns)} WHERE id = ${accountId}`
        if (Object.keys(defaults).length > 0) {
          yield* sql`UPDATE users SET ${sql.update({ ...defaults })} WHERE account_id = ${accountId}`
        }
      })
      return Profiles.of({ change })
    })
  )
}
