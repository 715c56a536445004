import { Clock, Context, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import { asForeign, type Foreign, idOf } from "../../federation/documents/ForeignValues.ts"
import * as LocalIds from "../../federation/LocalIds.ts"
import { videoBytesMax } from "../../instance/ContentLimits.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { FileOwners } from "../../media/FileOwners.ts"
import { sniff, uploadExtension } from "../../media/FileTypes.ts"
import { Storage, type StorageFailed } from "../../media/Storage.ts"
import { StoredFiles } from "../../media/StoredFiles.ts"
import { momentMillisMin, momentOf } from "../../runtime/Moments.ts"
import { traced } from "../../runtime/Traced.ts"
import { jsonBytesMax, postsMax } from "./ArchiveBounds.ts"
import { type ArchivedItem, archivedItem, type ArchiveOwner, parsed } from "./ArchivedItem.ts"
import { type ArchiveEntry, forEachEntry } from "./ArchiveEntries.ts"
import { type ArchiveRefused, refuse } from "./ArchiveRefusals.ts"
import { itemsOf } from "./JsonItems.ts"
import { activityOf, pixelfedFileName } from "./PixelfedStatuses.ts"
import { holdFile, insertItems, type StagedRow } from "./StagedRows.ts"

/** Bytes and items of one INSERT. */
const batchBytes = 1_048_576
const batchItems = 200
/** Maximum bytes of `actor.json`. */
const actorBytesMax = 1_048_576
const headBytes = 64
/** Time without a commit after which the lease is renewed, in milliseconds; far below the lease. */
const renewedMillis = 20_000

const ownerRows = rowsOf(Schema.Struct({ actorPath: LocalIds.ActorPath, alsoKnownAs: Schema.Array(Schema.String) }))
const aliasRows = rowsOf(Schema.Struct({ claimed: Schema.Boolean }))
const itemRows = rowsOf(Schema.Struct({ publishedAt: Timestamptz, place: Schema.Int, activity: Schema.String }))
const pathRows = rowsOf(Schema.Struct({ path: Schema.String }))

/** Place of an item among those of its archive, oldest first. */
export interface ItemPlace {
  readonly publishedAt: Date
  readonly place: number
}

/** An item that is not imported yet. */
export interface StagedItem extends ItemPlace {
  readonly item: ArchivedItem
}

interface Source {
  readonly transferId: bigint
  /** Stored file of the upload, and its bytes. */
  readonly fileName: string
  readonly bytes: number
  /** Entries that an earlier run has read. */
  readonly entriesRead: number
}

/**
 * Commits rows of an archive with the number of entries that were read completely; a run that dies is repeated from the
 * last commit. A commit without a further entry renews the lease.
 */
type Commit<E> = (entriesRead: number, write: Effect.Effect<void, SqlError | ArchiveRefused>) => Effect.Effect<void, E>

/**
 * Result of reading: the actor document, if there is one, the folder that has the archive's files, with a slash at its
 * end, or "", and items that are no JSON.
 */
interface ReadArchive {
  readonly actor: Readonly<Record<string, unknown>> | undefined
  readonly folder: string
  readonly unreadable: number
}

/** Reads uploaded archives: their posts into `archive_items`, their files into `archive_files`. */
export class ArchiveReader extends Context.Service<ArchiveReader, {
  /** Reads an archive, or an `outbox.json` or the statuses of Pixelfed alone. */
  readonly read: <E>(
    source: Source,
    commit: Commit<E>
  ) => Effect.Effect<ReadArchive, E | ArchiveRefused | SqlError | StorageFailed>
  /**
   * Returns the owner of an archive whose posts may become those of `account`: the same actor, or one that the account
   * names as its alias, or that names the account as its own. Fails for any other.
   */
  readonly owner: (
    account: AccountId,
    transferId: bigint,
    archive: Pick<ReadArchive, "actor" | "folder">
  ) => Effect.Effect<ArchiveOwner, ArchiveRefused | SqlError>
  /** Returns at most `limit` items after a place, oldest first. */
  readonly items: (
    transferId: bigint,
    owner: ArchiveOwner,
    after: ItemPlace | undefined,
    limit: number,
    now: number
  ) => Effect.Effect<ReadonlyArray<StagedItem>, SqlError>
  /** Removes an item, in the transaction that imports it. */
  readonly remove: (transferId: bigint, item: ItemPlace) => Effect.Effect<void, SqlError>
  /** Releases the files that no post has; the file sweep deletes them. */
  readonly clear: (transferId: bigint) => Effect.Effect<void, SqlError>
  /** Returns those of the paths that the archive has. */
  readonly present: (
    transferId: bigint,
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlySet<string>, SqlError>
}>()("murmuration/services/transfers/archives/ArchiveReader") {
  static readonly layer = Layer.effect(ArchiveReader, Effect.suspend(() => make))
}

const documentNames: ReadonlySet<string> = new Set(["actor.json", "outbox.json", pixelfedFileName])

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const config = yield* ServerConfig
  const files = yield* StoredFiles
  const fileOwners = yield* FileOwners
  const storage = yield* Storage

  const bytesOf = (name: string, length: number) => storage.read(name, { offset: 0, length })

  /** Text of a file of an archive, if it is small enough. */
  const smallText = <E>(body: Stream.Stream<Uint8Array, E>, bytesMax: number) =>
    Stream.runFoldEffect(
      body,
      () => Buffer.alloc(0),
      (all, chunk) =>
        all.length + chunk.length > bytesMax
          ? Effect.fail(refuse("unreadable"))
          : Effect.succeed(Buffer.concat([all, chunk]))
    )

  const read: ArchiveReader["Service"]["read"] = ({ bytes, entriesRead, fileName, transferId }, commit) =>
    Effect.gen(function*() {
      let [entries, items, itemBytes, unreadable] = [0, 0, 0, 0]
      let actor: ReadArchive["actor"]
      let folder: string | undefined
      let batch: Array<StagedRow> = []
      let batched = 0

      // Entries that this run or an earlier one has read to their end: files are not read again, and posts are.
      let complete = entriesRead
      let committedAt = yield* Clock.currentTimeMillis

      const commitRead = (entry: number, write: Effect.Effect<void, SqlError | ArchiveRefused>) =>
        Effect.gen(function*() {
          const reached = Math.max(complete, entry)
          yield* commit(reached, write)
          complete = reached
          committedAt = yield* Clock.currentTimeMillis
        })

      /** Renews the lease while the archive is read without a commit: one entry may expand to gigabytes. */
      const renew = Effect.gen(function*() {
        if ((yield* Clock.currentTimeMillis) - committedAt >= renewedMillis) yield* commitRead(complete, Effect.void)
      })

      const flush = Effect.suspend(() => {
        const rows = batch
        batch = []
        batched = 0
        return rows.length === 0 ? Effect.void : commitRead(complete, insertItems(sql, transferId, rows))
      })

      const stage = Effect.fnUntraced(function*(text: string, activity: Foreign | undefined) {
        const place = items++
        const bytes = Buffer.byteLength(text)
        itemBytes += bytes
        if (items > postsMax || itemBytes > jsonBytesMax) return yield* refuse("too_many_posts")
        if (activity === undefined) {
          unreadable++
          return
        }
        const millis = momentOf(activity["published"]) ?? momentOf(asForeign(activity["object"])?.["published"])
        batch.push({ publishedAt: new Date(millis ?? momentMillisMin), place, activity: text })
        batched += bytes
        if (batch.length >= batchItems || batched >= batchBytes) yield* flush
      })
      const outbox = <E>(body: Stream.Stream<Uint8Array, E>) =>
        Effect.andThen(
          Stream.runForEach(itemsOf(body, "orderedItems"), (text) => stage(text, asForeign(parsed(text)))),
          flush
        )
      const statuses = <E>(body: Stream.Stream<Uint8Array, E>) => {
        const stageStatus = (text: string) => {
          const status = asForeign(parsed(text))
          const activity = status && activityOf(status)
          return stage(JSON.stringify(activity) ?? text, activity)
        }
        return Effect.andThen(Stream.runForEach(itemsOf(body, undefined), stageStatus), flush)
      }

      /** Stores a picture, video or sound; other files and those that are too large are left out. */
      const keep = <E>(path: string, body: Stream.Stream<Uint8Array, E>) =>
        Effect.gen(function*() {
          const received = yield* files.receive(uploadExtension, body, videoBytesMax)
          const type = yield* sniff(received.head)
          if (type === undefined) return yield* files.discard([received.name])
          const file = { path, name: received.name, type: type.mime, bytes: received.bytes }
          yield* commitRead(
            entries,
            Effect.flatMap(
              holdFile(sql, fileOwners, transferId, file),
              (added) => added ? Effect.void : refuse("duplicate_path")
            )
          )
        }).pipe(Effect.catchTag("FileTooLarge", () => Effect.void))

      const use = <E>({ body, path }: ArchiveEntry<E>) =>
        Effect.gen(function*() {
          entries++
          const name = path.slice(path.lastIndexOf("/") + 1)
          if (documentNames.has(name)) {
            // Archives that people unpack and pack again are within a folder.
            const found = path.slice(0, -name.length)
            folder ??= found
            if (folder !== found) return yield* refuse("unreadable")
          }
          if (name === "actor.json") actor = asForeign(parsed((yield* smallText(body, actorBytesMax)).toString()))
          else if (name === "outbox.json") yield* outbox(body)
          else if (name === pixelfedFileName) yield* statuses(body)
          else if (path.endsWith(".json") || /^(?:avatar|header)\.[^/]*$/.test(path) || entries <= entriesRead) return
          else yield* keep(path, body)
        })

      const archive = Stream.tap(bytesOf(fileName, bytes), () => renew)
      const head = yield* Stream.runFold(
        bytesOf(fileName, Math.min(headBytes, bytes)),
        () => Buffer.alloc(0),
        (all, chunk) => Buffer.concat([all, chunk])
      )
      const [, bracket] = /^(?:\xef\xbb\xbf)?\s*([{[])/.exec(head.toString("latin1")) ?? []
      if (bracket === undefined) yield* forEachEntry(head, archive, bytes, use)
      else yield* bracket === "{" ? outbox(archive) : statuses(archive)
      if (items === 0) return yield* refuse("empty")
      return { actor, folder: folder ?? "", unreadable }
    })

  const items = traced("ArchiveReader.items")(
    function*(
      transferId: bigint,
      owner: ArchiveOwner,
      after: ItemPlace | undefined,
      limit: number,
      now: number
    ) {
      const beyond = after === undefined
        ? sql``
        : sql`AND (published_at, place) > (${after.publishedAt}, ${after.place})`
      const rows = yield* itemRows(sql`SELECT published_at, place, activity FROM archive_items
        WHERE transfer_id = ${transferId} ${beyond} ORDER BY published_at, place LIMIT ${rowsMax(sql, limit)}`)
      return yield* Effect.forEach(rows, ({ activity, place, publishedAt }) =>
        // Sanitising a post takes a millisecond.
        Effect.as(Effect.yieldNow, { place, publishedAt, item: archivedItem(activity, owner, now) }))
    }
  )

  const owner = traced("ArchiveReader.owner")(
    function*(account: AccountId, transferId: bigint, { actor, folder }: Pick<ReadArchive, "actor" | "folder">) {
      const [first] = yield* itemRows(sql`SELECT published_at, place, activity FROM archive_items
        WHERE transfer_id = ${transferId} ORDER BY published_at, place LIMIT 1`)
      // An outbox alone names its owner in its activities.
      const uri = idOf(actor) ?? idOf(asForeign(parsed(first?.activity ?? ""))?.["actor"])
      const [own] = yield* ownerRows(sql`SELECT a.actor_path, a.also_known_as FROM accounts a WHERE a.id = ${account}`)
      if (uri === undefined || own === undefined) return yield* refuse("empty")
      const self = LocalIds.actor(config, own.actorPath)
      const claimed = { uri, followersUrl: idOf(actor?.["followers"]) ?? `${uri}/followers`, folder }
      if (uri === self || own.alsoKnownAs.includes(uri)) return claimed
      const [alias] = yield* aliasRows(
        sql`SELECT ${self} = ANY (also_known_as) AS claimed FROM accounts WHERE uri = ${uri}`
      )
      return alias?.claimed === true ? claimed : yield* refuse("foreign_actor")
    }
  )

  return ArchiveReader.of({
    read,
    owner,
    items,
    remove: traced("ArchiveReader.remove")((transferId, { place, publishedAt }) =>
      Effect.asVoid(sql`DELETE FROM archive_items
        WHERE transfer_id = ${transferId} AND published_at = ${publishedAt} AND place = ${place}`)
    ),
    clear: traced("ArchiveReader.clear")((transferId) =>
      Effect.asVoid(sql`WITH gone AS (DELETE FROM archive_files WHERE transfer_id = ${transferId})
        UPDATE stored_files SET transfer_id = NULL WHERE transfer_id = ${transferId}`)
    ),
    present: traced("ArchiveReader.present")((transferId, paths) =>
      Effect.map(
        pathRows(
          sql`SELECT path FROM archive_files WHERE transfer_id = ${transferId} AND path = ANY (${paths}::text[])`
        ),
        (rows) => new Set(rows.map(({ path }) => path))
      )
    )
  })
})
