import { Effect, String as Text } from "effect"
import { SqlClient } from "effect/sql"
import { type Written, written } from "../../../src/services/statuses/Written.ts"
import { publicUrl } from "../../support/Reads.ts"

/* Reference rendering: statuses one by one from plain rows, without regard to speed. The ready JSON must equal it. */

interface AccountRow {
  readonly username: string
  readonly domain: string | null
  readonly displayName: string
  readonly noteHtml: string
  readonly fields: ReadonlyArray<{ readonly name: string; readonly html: string; readonly verifiedAt: string | null }>
  readonly locked: boolean
  readonly silencedAt: Date | null
  readonly suspendedAt: Date | null
  readonly createdAt: Date
  readonly followersCount: number
  readonly followingCount: number
  readonly statusesCount: number
  readonly lastStatusAt: Date | null
}

export const account = Effect.fnUntraced(function*(id: bigint) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<AccountRow>`SELECT a.*, s.* FROM accounts a JOIN account_stats s ON s.account_id = a.id
    WHERE a.id = ${id}`
  if (row === undefined) return yield* Effect.die(`no account ${id}`)
  const here = row.domain === null
  const written = row.suspendedAt === null
  const avatar = `${publicUrl}/avatars/original/missing.png`
  const header = `${publicUrl}/headers/original/missing.png`
  return {
    id: String(id),
    username: row.username,
    acct: here ? row.username : `${row.username}@${row.domain}`,
    display_name: written ? row.displayName : "",
    locked: written && row.locked,
    bot: false,
    discoverable: written ? null : false,
    indexable: false,
    group: false,
    created_at: `${row.createdAt.toISOString().slice(0, 10)}T00:00:00.000Z`,
    note: written ? row.noteHtml : "",
    url: `${publicUrl}/@${row.username}`,
    uri: `${publicUrl}/users/${row.username}`,
    avatar,
    avatar_static: avatar,
    avatar_description: "",
    header,
    header_static: header,
    header_description: "",
    followers_count: row.followersCount,
    following_count: row.followingCount,
    statuses_count: row.statusesCount,
    last_status_at: row.lastStatusAt === null ? null : row.lastStatusAt.toISOString().slice(0, 10),
    hide_collections: null,
    show_media: true,
    show_media_replies: true,
    show_featured: true,
    emojis: [],
    fields: written
      ? row.fields.map(({ html, name, verifiedAt }) => ({ name, value: html, verified_at: verifiedAt }))
      : [],
    feature_approval: { automatic: [], manual: [], current_user: here ? "denied" : "missing" },
    ...(here ? { noindex: false, roles: [] } : {}),
    ...(row.silencedAt === null ? {} : { limited: true }),
    ...(written ? {} : { suspended: true })
  }
})

interface StatusRow extends Written {
  readonly id: bigint
  readonly accountId: bigint
  readonly html: string
  readonly visibility: string
  readonly localOnly: boolean
  readonly inReplyToId: bigint | null
  readonly inReplyToAccountId: bigint | null
  readonly reblogOfId: bigint | null
  readonly conversationId: bigint
  readonly applicationId: bigint | null
  readonly createdAt: Date
  readonly editedAt: Date | null
  readonly local: boolean
  readonly username: string
  readonly domain: string | null
}

interface Json {
  readonly [key: string]: unknown
}

export const status: (id: bigint, viewer: bigint | undefined) => Effect.Effect<Json, unknown, SqlClient.SqlClient> =
  Effect.fnUntraced(function*(id: bigint, viewer: bigint | undefined) {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<StatusRow>`SELECT s.*, a.username, a.domain FROM statuses s
      JOIN accounts a ON a.id = s.account_id WHERE s.id = ${id}`
    if (row === undefined) return yield* Effect.die(`no status ${id}`)
    const shown = row.reblogOfId ?? id
    const [proper] = yield* sql<
      { wrote: bigint; visibility: string; local: boolean }
    >`SELECT account_id AS wrote, visibility, local FROM statuses
      WHERE id = ${shown}`
    const wrote = proper?.wrote
    const open = proper?.local === true && (proper.visibility === "public" || proper.visibility === "unlisted")
    const [counts] = yield* sql<{ replies: number; reblogs: number; favourites: number }>`
      SELECT replies_count AS replies, reblogs_count AS reblogs, favourites_count AS favourites
      FROM status_stats WHERE status_id = ${row.reblogOfId === null ? id : 0n}`
    const mentions = yield* sql<{ id: bigint; username: string; domain: string | null; url: string | null }>`
      SELECT a.id, a.username, a.domain, a.url FROM mentions m JOIN accounts a ON a.id = m.account_id
      WHERE m.status_id = ${id} AND NOT m.silent ORDER BY a.id`
    const tags = yield* sql<{ name: string }>`SELECT t.name FROM statuses_tags s JOIN tags t ON t.id = s.tag_id
      WHERE s.status_id = ${id} ORDER BY t.id`
    const has = (table: string, column: string, value: bigint) =>
      Effect.map(
        sql`SELECT 1 FROM ${sql(table)} WHERE account_id = ${viewer ?? 0n} AND ${sql(column)} = ${value}`,
        (rows) => rows.length > 0
      )
    const reblogged = yield* sql`SELECT 1 FROM statuses
      WHERE account_id = ${viewer ?? 0n} AND reblog_of_id = ${shown} AND deleted_at IS NULL`
    const own = viewer === row.accountId
    const [conversation] = yield* sql<{ id: bigint }>`SELECT conversation_id AS id FROM statuses WHERE id = ${shown}`
    const note = `${publicUrl}/users/${row.username}/statuses/${id}`
    const activity = `${note}/activity`
    const application = yield* sql<{ name: string; website: string | null }>`SELECT name, website FROM oauth_apps
      WHERE id = ${row.applicationId ?? 0n}`
    const hidden = yield* sql`SELECT FROM users WHERE account_id = ${row.accountId} AND NOT show_application`
    const told = own || (row.local && hidden.length === 0)
    return {
      id: String(id),
      created_at: row.createdAt.toISOString(),
      in_reply_to_id: row.inReplyToId === null ? null : String(row.inReplyToId),
      in_reply_to_account_id: row.inReplyToAccountId === null ? null : String(row.inReplyToAccountId),
      ...Object.fromEntries(Object.entries(written(row)).map(([field, value]) => [Text.camelToSnake(field), value])),
      visibility: row.visibility,
      ...(row.localOnly && { local_only: true }),
      uri: row.reblogOfId === null ? note : activity,
      url: row.local ? (row.reblogOfId === null ? `${publicUrl}/@${row.username}/${id}` : activity) : null,
      replies_count: counts?.replies ?? 0,
      reblogs_count: counts?.reblogs ?? 0,
      favourites_count: counts?.favourites ?? 0,
      quotes_count: 0,
      edited_at: row.editedAt === null ? null : row.editedAt.toISOString(),
      content: row.html,
      media_attachments: [],
      mentions: mentions.map((mention) => ({
        id: String(mention.id),
        username: mention.username,
        url: mention.url ?? `${publicUrl}/@${mention.username}`,
        acct: mention.domain === null ? mention.username : `${mention.username}@${mention.domain}`
      })),
      tags: tags.map(({ name }) => ({ name, url: `${publicUrl}/tags/${name}` })),
      emojis: [],
      tagged_collections: [],
      quote: null,
      card: null,
      poll: null,
      quote_approval: {
        automatic: open ? ["public"] : [],
        manual: [],
        current_user: viewer !== undefined && (open || viewer === wrote) ? "automatic" : "denied"
      },
      account: yield* account(row.accountId),
      reblog: row.reblogOfId === null ? null : yield* status(row.reblogOfId, viewer),
      ...(told && { application: application[0] ?? null }),
      ...(viewer === undefined ? {} : {
        favourited: yield* has("favourites", "status_id", shown),
        reblogged: reblogged.length > 0,
        muted: yield* has("conversation_mutes", "conversation_id", conversation?.id ?? 0n),
        bookmarked: yield* has("bookmarks", "status_id", shown),
        ...(own && row.reblogOfId === null && row.visibility !== "direct"
          ? { pinned: yield* has("status_pins", "status_id", id) }
          : {}),
        filtered: []
      })
    }
  })
