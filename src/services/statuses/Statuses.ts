import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../Errors.ts"
import { type MediaRecord, recordsOf } from "../media/MediaRecord.ts"
import { padded } from "../Rows.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"
import type { Visibility } from "./StatusWriter.ts"
import { visibleTo } from "./Visibility.ts"

/** An account that a status mentions. `url` is null for local ones. */
export interface MentionRecord {
  /** A decimal string. */
  readonly id: string
  readonly username: string
  readonly domain: string | null
  readonly url: string | null
}

/** A poll as it is stored. `expiresAt` is a date in ISO 8601, `voters` null where nobody says how many. */
export interface PollRecord {
  readonly options: ReadonlyArray<string>
  readonly counts: ReadonlyArray<number>
  readonly voters: number | null
  readonly multiple: boolean
  readonly hideTotals: boolean
  readonly expiresAt: string | null
}

/**
 * The part of a status that is the same for every viewer. `uri` and `url` are null for local ones, `html` is sanitised.
 */
export interface StatusRecord {
  readonly id: bigint
  readonly accountId: bigint
  readonly username: string
  readonly domain: string | null
  readonly uri: string | null
  readonly url: string | null
  readonly local: boolean
  readonly html: string
  readonly spoilerText: string
  readonly sensitive: boolean
  readonly visibility: Visibility
  /** A direct one that is also for people whom it does not name, and which clients know as one for followers. */
  readonly limited: boolean
  readonly language: string | null
  readonly inReplyToId: bigint | null
  readonly inReplyToAccountId: bigint | null
  readonly reblogOfId: bigint | null
  readonly conversationId: bigint
  readonly createdAt: Date
  readonly editedAt: Date | null
  readonly mentions: ReadonlyArray<MentionRecord>
  /** Normalised names. */
  readonly tags: ReadonlyArray<string>
  readonly media: ReadonlyArray<MediaRecord>
  readonly poll: PollRecord | null
  readonly applicationName: string | null
  readonly applicationWebsite: string | null
  /** Its author lets others see the application. */
  readonly showApplication: boolean
}

/** A status that somebody may read. */
export interface FoundStatus {
  readonly id: bigint
  readonly accountId: bigint
  readonly reblogOfId: bigint | null
  readonly conversationId: bigint
}

/** Reads statuses. `load` decides nothing about permission; `ViewerStates` does. Everything else answers only what may be seen. */
export class Statuses extends Context.Service<Statuses, {
  /** The statuses that exist, deleted ones too, and the originals of those that are reblogs; one query. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<StatusRecord>>
  /** A status that `viewer` may see; what it may not see does not exist (security row 57). */
  readonly find: (viewer: Viewer, id: bigint) => Effect.Effect<FoundStatus, RecordNotFound>
  /** What its author wrote, for editing; to be asked for by whom may see the status. */
  readonly source: (
    viewer: Viewer,
    id: bigint
  ) => Effect.Effect<{ readonly id: bigint; readonly text: string; readonly spoilerText: string }, RecordNotFound>
}>()("murmuration/services/statuses/Statuses") {
  static readonly layer = Layer.effect(
    Statuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const load = traced("Statuses.load")(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const wanted = padded(new Set(ids))
        return yield* sql<StatusRecord>`
          SELECT s.id, s.account_id, a.username, a.domain, s.uri, s.url, s.local, s.html, s.spoiler_text, s.sensitive OR a.sensitized_at IS NOT NULL AS sensitive,
            s.visibility, s.limited, s.language, s.in_reply_to_id, s.in_reply_to_account_id, s.reblog_of_id, s.conversation_id,
            s.created_at, s.edited_at, app.name AS application_name, app.website AS application_website,
            coalesce(u.show_application, true) AS show_application,
            coalesce((SELECT json_agg(json_build_object('id', n.id::text, 'username', n.username, 'domain', n.domain,
                'url', n.url) ORDER BY n.id)
              FROM mentions m JOIN accounts n ON n.id = m.account_id WHERE m.status_id = s.id AND NOT m.silent AND NOT m.quiet), '[]') AS mentions,
            ARRAY(SELECT t.name FROM statuses_tags st JOIN tags t ON t.id = st.tag_id
              WHERE st.status_id = s.id ORDER BY t.id) AS tags,
            ${recordsOf(sql, "s.media_ids")} AS media,
            (SELECT json_build_object('options', p.options, 'counts', p.counts, 'voters', p.voters_count, 'multiple', p.multiple,
              'hideTotals', p.hide_totals, 'expiresAt', p.expires_at) FROM polls p WHERE p.status_id = s.id) AS poll
          FROM statuses s JOIN accounts a ON a.id = s.account_id LEFT JOIN users u ON u.account_id = a.id
          LEFT JOIN oauth_apps app ON app.id = s.application_id
          WHERE s.id IN (SELECT unnest(${wanted}::bigint[])
            UNION SELECT r.reblog_of_id FROM statuses r WHERE r.id = ANY (${wanted}::bigint[]) AND r.reblog_of_id IS NOT NULL)`
      }, Effect.orDie)

      const find = traced("Statuses.find")(function*(viewer: Viewer, id: bigint) {
        const [row] = yield* sql<FoundStatus>`
          SELECT s.id, s.account_id, s.reblog_of_id, s.conversation_id FROM statuses s
          WHERE s.id = ${id} AND ${visibleTo(sql, viewer, "s")}`.pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : row
      })

      const source = traced("Statuses.source")(function*(viewer: Viewer, id: bigint) {
        const [row] = yield* sql<{ id: bigint; text: string; spoilerText: string }>`
          SELECT s.id, s.text, s.spoiler_text FROM statuses s
          WHERE s.id = ${id} AND ${visibleTo(sql, viewer, "s")}`.pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : row
      })
      return Statuses.of({ load, find, source })
    })
  )
}
