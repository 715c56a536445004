import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Counters from "../../database/Counters.ts"
import type { AccountId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { idRows, rowsOf, singleRow } from "../../database/Rows.ts"
import { parse } from "../../discovery/LocalUrls.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { KnownUris } from "../../federation/inbox/KnownUris.ts"
import { RemotePolls } from "../../federation/inbox/RemotePolls.ts"
import { plainText } from "../../html/PlainText.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { AttachmentWriter } from "../../media/AttachmentWriter.ts"
import { FileOwners } from "../../media/FileOwners.ts"
import { typeNamed } from "../../media/FileTypes.ts"
import { typeOf } from "../../media/MediaAttachments.ts"
import { traced } from "../../runtime/Traced.ts"
import { PolicyVerdicts } from "../../statuses/PolicyVerdicts.ts"
import { Reblogs } from "../../statuses/Reblogs.ts"
import { defaultColumns, insertion, newRows, type NewStatus, update } from "../../statuses/StatusRows.ts"
import { type Parent, StatusTargets } from "../../statuses/StatusTargets.ts"
import { StatusWriter } from "../../statuses/StatusWriter.ts"
import * as Tagging from "../../statuses/Tagging.ts"
import { isPublicOrUnlisted } from "../../statuses/Visibility.ts"
import { written } from "../../statuses/Written.ts"
import { bounded } from "../../text/BoundedText.ts"
import type { ArchivedItem } from "./ArchivedItem.ts"

const knownRows = rowsOf(Schema.Struct({ uri: Schema.String }))
const AddedPost = Schema.Struct({ statusId: Schema.BigInt, noticed: Schema.Boolean })
const addedRows = rowsOf(AddedPost)
const statusRows = rowsOf(Schema.Struct({ statusId: Schema.BigInt }))
const fileRows = rowsOf(Schema.Struct({ path: Schema.String, name: Schema.String, type: Schema.String }))

type Post = Extract<ArchivedItem, { readonly kind: "post" }>
type Boost = Extract<ArchivedItem, { readonly kind: "boost" }>

/** Owner of the posts, the transfer that reads the archive, and the current time in milliseconds since 1970. */
interface Import {
  readonly accountId: AccountId
  readonly transferId: bigint
  readonly millis: number
}

/**
 * Result for one item: added; imported or posted before; or failed: a boost of a post that is not known or may not be
 * boosted, or a post of files that the archive lacks.
 */
type Imported = "added" | "known" | "failed"

/**
 * Posts of an archive, written in transactions of `TransferQueue.commit`. They have the dates, texts and audiences that
 * they had elsewhere, and no intent: no home, public timeline, stream, notification, webhook, trend or other server
 * learns of them.
 */
export class ImportedPosts extends Context.Service<ImportedPosts, {
  /** Imports a post or boost unless it was imported before, or is a post of this account. */
  readonly add: (of: Import, item: Post | Boost) => Effect.Effect<Imported, SqlError>
  /** Returns true for ids that were imported before, and for posts that the account wrote here. */
  readonly isKnown: (accountId: AccountId, uri: string) => Effect.Effect<boolean, SqlError>
  /** Returns true for a post that would have nothing to show: it had files only, and the archive has none of them. */
  readonly isEmpty: (transferId: bigint, post: Post) => Effect.Effect<boolean, SqlError>
  /**
   * Returns at most `limit` posts that an import added. A post is `noticed` if another account replied to it, boosted,
   * favourited or quoted it, or if it was edited or boosted here, so that other servers may have it.
   */
  readonly added: (
    account: AccountId,
    transferId: bigint,
    limit: number
  ) => Effect.Effect<ReadonlyArray<typeof AddedPost.Type>, SqlError>
  /** Deletes a post that an import added, and forgets its original id, so that it can be imported again. */
  readonly remove: (account: AccountId, statusId: bigint, millis: number) => Effect.Effect<void, SqlError>
}>()("murmuration/services/transfers/archives/ImportedPosts") {
  static readonly layerNoDeps = Layer.effect(ImportedPosts, Effect.suspend(() => make))
  static readonly layer = ImportedPosts.layerNoDeps.pipe(
    Layer.provide([
      AttachmentWriter.layer,
      FileOwners.layer,
      KnownUris.layer,
      PolicyVerdicts.layer,
      Reblogs.layer,
      RemotePolls.layer,
      StatusTargets.layer,
      StatusWriter.layer
    ])
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const config = yield* ServerConfig
  const attachments = yield* AttachmentWriter
  const fileOwners = yield* FileOwners
  const knownUris = yield* KnownUris
  const polls = yield* RemotePolls
  const reblogs = yield* Reblogs
  const statusWriter = yield* StatusWriter
  const targets = yield* StatusTargets
  const verdicts = yield* PolicyVerdicts

  const isKnown = Effect.fnUntraced(function*(accountId: AccountId, uri: string) {
    const own = parse(config, uri)
    const id = own?.kind === "status" ? own.id : null
    const rows = yield* knownRows(sql`SELECT uri FROM imported_statuses WHERE account_id = ${accountId} AND uri = ${uri}
      UNION ALL SELECT '' FROM statuses WHERE id = ${id}::bigint AND account_id = ${accountId} AND deleted_at IS NULL`)
    return rows.length > 0
  })

  /** The post with this id: imported earlier by the same account, or otherwise known here. */
  const resolve = Effect.fnUntraced(function*(accountId: AccountId, uri: string) {
    const [row] = yield* statusRows(sql`SELECT status_id FROM imported_statuses
      WHERE account_id = ${accountId} AND uri = ${uri}`)
    return row?.statusId ?? (yield* knownUris.status(uri))
  })

  /**
   * Parent of a reply, if the account may see it and reply to it without consent: an archive is no proof that it once
   * did.
   */
  const parentOf = Effect.fnUntraced(function*(accountId: AccountId, uri: string | undefined) {
    const id = uri === undefined ? undefined : yield* resolve(accountId, uri)
    if (id === undefined) return undefined
    const parent = yield* targets.parent(accountId, id).pipe(Effect.catchTag("RecordNotFound", () => Effect.undefined))
    if (parent === undefined || parent.accountId === accountId) return parent
    const { mentioned, verdict } = yield* verdicts.of(accountId, parent, "reply")
    return mentioned || verdict === "automatic" ? parent : undefined
  })

  const mentionsOf = Effect.fnUntraced(function*({ addressed, mentioned }: Post["note"]) {
    const known = yield* knownUris.accounts(mentioned)
    return [...known].map(([uri, id]) => ({ id, silent: !addressed.includes(uri) }))
  })

  const rowOf = (accountId: AccountId, { localOnly, note, source }: Post, parent: Parent | undefined): NewStatus => ({
    ...defaultColumns,
    ...written(note),
    ...(source ?? { text: plainText(bounded(note.html)) }),
    accountId,
    imported: true,
    html: note.html,
    visibility: note.visibility,
    localOnly: localOnly || parent?.localOnly === true,
    inReplyToId: parent?.id ?? null,
    inReplyToAccountId: parent?.repliedToId ?? null,
    conversationId: parent?.conversationId ?? null,
    createdAt: new Date(note.publishedMillis)
  })

  const insert = Effect.fnUntraced(function*(row: NewStatus, { note }: Post) {
    const mentions = yield* mentionsOf(note)
    const { accountId, createdAt, localOnly, visibility } = row
    return singleRow(
      yield* idRows(sql`WITH ${newRows(sql, [row])},
        made AS (${insertion(sql, sql``, { conversationId: sql`coalesce(fresh.conversation_id, fresh.id)` })}),
        stats AS (INSERT INTO status_stats (status_id) SELECT id FROM fresh),
        named AS (INSERT INTO mentions (status_id, account_id, silent)
          SELECT fresh.id, m, silent FROM fresh, unnest(${mentions.map(({ id }) => id)}::bigint[],
            ${mentions.map(({ silent }) => silent)}::boolean[]) AS named (m, silent) ON CONFLICT DO NOTHING)${
        Tagging.attached(
          sql,
          sql`(SELECT id, ${accountId}::bigint, ${visibility}::text, ${createdAt}::timestamptz, ${localOnly}::boolean FROM fresh)`,
          note.tags,
          createdAt.getTime(),
          true
        )
      }
        SELECT id FROM fresh`)
    ).id
  })

  /** Attaches the files that the archive has; they are processed like uploads. */
  const attach = Effect.fnUntraced(function*({ accountId, transferId, millis }: Import, id: bigint, post: Post) {
    const found = yield* fileRows(sql`DELETE FROM archive_files
      WHERE transfer_id = ${transferId} AND path = ANY (${post.files}::text[]) RETURNING path, name, type`)
    const files = new Map(found.map((file) => [file.path, file]))
    const mediaIds: Array<bigint> = []
    for (const [place, { description, focus }] of post.note.attachments.entries()) {
      const path = post.files[place] ?? ""
      const file = files.get(path)
      // A file that several attachments name belongs to the first.
      files.delete(path)
      const type = file && typeNamed(file.type)
      if (file === undefined || type === undefined) continue
      const [text, at] = [description, new Date(millis)]
      const media = singleRow(
        yield* idRows(sql`INSERT INTO media_attachments (id, account_id, status_id, type, state, description, focus_x,
            focus_y, upload_name, upload_type, created_at, touched_at)
          VALUES (next_id(${millis}), ${accountId}, ${id}, ${typeOf[type.kind]}, 'queued', ${text}, ${focus?.x ?? null},
            ${focus?.y ?? null}, ${file.name}, ${type.mime}, ${at}, ${at}) RETURNING id`)
      )
      yield* fileOwners.release([file.name])
      yield* fileOwners.hold([file.name], { mediaId: media.id })
      mediaIds.push(media.id)
    }
    if (mediaIds.length > 0) yield* tracked("status", [id])(sql`${update(sql, { mediaIds })} WHERE id = ${id}`)
  })

  const note = ({ accountId, transferId }: Import, statusId: bigint, uri: string, url: string) =>
    Effect.asVoid(sql`INSERT INTO imported_statuses (account_id, uri, url, status_id, transfer_id)
      VALUES (${accountId}, ${uri}, ${url}, ${statusId}, ${transferId})`)

  const isEmpty = Effect.fnUntraced(function*(transferId: bigint, { files, note }: Post) {
    if (note.attachments.length === 0 || note.poll !== undefined || note.spoilerText !== "") return false
    if (plainText(bounded(note.html)).trim() !== "") return false
    const found = yield* sql`SELECT FROM archive_files
      WHERE transfer_id = ${transferId} AND path = ANY (${files}::text[]) LIMIT 1`
    return found.length === 0
  })

  const addPost = Effect.fnUntraced(function*(of: Import, post: Post) {
    const { accountId } = of
    if (yield* isEmpty(of.transferId, post)) return "failed" as const
    const { inReplyTo, poll, publishedMillis, uri, url } = post.note
    const parent = yield* parentOf(accountId, inReplyTo)
    const row = rowOf(accountId, post, parent)
    const id = yield* insert(row, post)
    yield* attach(of, id, post)
    if (poll !== undefined) {
      // A poll without an end, or with a later one, ends now: nobody can vote where it was asked.
      yield* polls.create(id, { ...poll, endsMillis: Math.min(poll.endsMillis ?? of.millis, of.millis) })
    }
    yield* note(of, id, uri, url)
    yield* Counters.count(
      { sql, tracked },
      [{ accountId, statuses: 1 }],
      parent === undefined ? [] : [{ statusId: parent.id, replies: 1 }],
      new Date(publishedMillis)
    )
    return "added" as const
  })

  const addBoost = Effect.fnUntraced(function*(of: Import, { millis, object, uri, visibility }: Boost) {
    const { accountId } = of
    const id = yield* resolve(accountId, object)
    const original = id === undefined
      ? undefined
      : yield* targets.touchable(accountId, id).pipe(
        Effect.catchTags({ NotAllowed: () => Effect.undefined, RecordNotFound: () => Effect.undefined })
      )
    if (original === undefined || original.id !== id || original.visibility === "direct") return "failed" as const
    const own = original.accountId === accountId
    if (!own && !isPublicOrUnlisted(original.visibility)) return "failed" as const
    // As for boosts that are made here: no wider than the original, and never direct.
    const shown = original.visibility === "private" || visibility === "direct" ? "private" : visibility
    if ((yield* verdicts.of(accountId, original, "reblog")).verdict !== "automatic") return "failed" as const
    if ((yield* reblogs.find(accountId, original.id)) !== undefined) return "known" as const
    return yield* reblogs.insert({
      accountId,
      original: original.id,
      visibility: shown,
      millis,
      uri: null,
      imported: true
    })
      .pipe(
        Effect.flatMap((boost) => note(of, boost, uri, object)),
        Effect.as("added" as const),
        Effect.catchTag("RecordNotFound", () => Effect.succeed("failed" as const))
      )
  })

  const add = traced("ImportedPosts.add")(function*(of: Import, item: Post | Boost) {
    if (yield* isKnown(of.accountId, item.kind === "post" ? item.note.uri : item.uri)) return "known"
    return yield* item.kind === "post" ? addPost(of, item) : addBoost(of, item)
  })

  return ImportedPosts.of({
    add,
    isEmpty,
    isKnown,
    added: traced("ImportedPosts.added")((account, transferId, limit) =>
      addedRows(sql`SELECT i.status_id, s.deleted_at IS NULL AND (s.edited_at IS NOT NULL OR c.favourites_count > 0
          OR c.quotes_count > 0 OR c.reactions_count > 0
          OR EXISTS (SELECT FROM statuses r WHERE r.in_reply_to_id = s.id AND r.deleted_at IS NULL AND NOT r.imported)
          OR EXISTS (SELECT FROM statuses r WHERE r.reblog_of_id = s.id AND r.deleted_at IS NULL AND NOT r.imported))
          AS noticed
        FROM imported_statuses i JOIN statuses s ON s.id = i.status_id JOIN status_stats c ON c.status_id = i.status_id
        WHERE i.transfer_id = ${transferId} AND i.account_id = ${account} ORDER BY i.status_id DESC
        LIMIT ${rowsMax(sql, limit)}`)
    ),
    remove: traced("ImportedPosts.remove")(function*(account, statusId, millis) {
      // Does nothing to a post that was deleted before.
      yield* statusWriter.remove(statusId, account, millis)
      yield* attachments.detach(statusId, false)
      yield* sql`DELETE FROM imported_statuses WHERE status_id = ${statusId}`
    })
  })
})
