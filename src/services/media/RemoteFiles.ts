import { Clock, Context, Effect, Layer, Schema, Semaphore, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { emojiBytesMax, profilePictureBytesMax, videoBytesMax } from "../instance/ContentLimits.ts"
import type { DocumentType } from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { RecordNotFound, type TooManyRequests } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { MediaTools } from "./MediaTools.ts"
import { type FetchFailed, isRemoteKey, NoRemoteFile, RemoteCopies, type RemoteCopy } from "./RemoteCopies.ts"
import { refreshedSetting } from "./RemoteRefreshes.ts"
import type { StorageFailed } from "./Storage.ts"

const statusIdRows = rowsOf(Schema.Struct({ statusId: Schema.NullOr(Schema.BigInt) }))

/** Maximum duration of fetching a file, in seconds. */
const remoteFileSecondsMax = 120
/** Time for which a failed file is not fetched again, in milliseconds, and maximum remembered failures. */
const failureMillis = 60_000
const failuresMax = 10_000

/** Maximum bytes of an image in which its size is searched for, and maximum remembered images without one. */
const measuredBytesMax = 1_048_576
const unmeasurableMax = 10_000

/**
 * Maximum avatars that wait for their perceptual hash; further ones are hashed when they are requested again. Only one
 * is in memory at a time: the other of the two turns of `MediaTools` stays free for members' own pictures.
 */
const hashingMax = 100
const hashingAtOnceMax = 1

/** Declared types of files; the bytes decide the real type. */
const files: DocumentType = {
  accept: "image/*, video/*, audio/*",
  accepts: (type) => /^(?:image|video|audio)\/|^(?:application|binary)\/(?:octet-stream|ogg|mp4)$|^$/.test(type)
}

const NamedFile = Schema.Struct({
  url: Schema.String,
  bytesMax: Schema.Int,
  notBefore: Schema.BigInt,
  /** An image of a post whose server did not state its size. */
  unmeasured: Schema.Boolean,
  /** An avatar without a perceptual hash. */
  unlooked: Schema.Boolean
})
type NamedFile = typeof NamedFile.Type
const namedRows = rowsOf(NamedFile)

/**
 * Files of remote accounts, fetched when first viewed. Only URLs in rows are fetched, through the guarded client; not
 * those of suspended accounts, deleted statuses and servers whose media is rejected.
 */
export class RemoteFiles extends Context.Service<RemoteFiles, {
  /** Returns the copy of a file. Without one, `admit` decides if this caller may cause a fetch. */
  readonly get: (key: string, admit: Effect.Effect<unknown, TooManyRequests>) => Effect.Effect<
    RemoteCopy,
    RecordNotFound | NoRemoteFile | FetchFailed | StorageFailed
  >
}>()("murmuration/services/media/RemoteFiles") {
  static readonly layer = Layer.effect(
    RemoteFiles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const copies = yield* RemoteCopies
      const outbound = yield* Outbound
      const tools = yield* MediaTools
      const tracked = yield* RowChanges.make
      const unmeasurable = boundedMap<string, true>(unmeasurableMax)
      const failures = boundedMap<string, number>(failuresMax)
      const scope = yield* Effect.scope
      const hashing = new Set<string>()
      const turns = Semaphore.makeUnsafe(hashingAtOnceMax)

      const find = Effect.fnUntraced(function*(key: string) {
        const attachment = (column: string) => {
          const url = sql(column)
          return sql`SELECT m.${url} AS url, ${videoBytesMax}::int AS bytes_max, NULL::timestamptz AS since,
              ${
            sql.literal(column === "remoteUrl" ? "m.type = 'image' AND m.meta -> 'original' IS NULL" : "false")
          } AS unmeasured, false AS unlooked
            FROM media_attachments m
            JOIN accounts a ON a.id = m.account_id AND a.suspended_at IS NULL AND a.domain IS NOT NULL
              AND NOT a.media_rejected
            LEFT JOIN statuses s ON s.id = m.status_id
            WHERE m.${url} IS NOT NULL AND remote_key(m.${url}) = ${key} AND s.deleted_at IS NULL`
        }
        const picture = (column: string) => {
          const url = sql(column)
          return sql`SELECT a.${url}, ${profilePictureBytesMax}::int, NULL, false,
              ${sql.literal(column === "avatarRemoteUrl" ? "a.avatar_hash IS NULL" : "false")} FROM accounts a
            WHERE a.${url} IS NOT NULL AND remote_key(a.${url}) = ${key} AND a.suspended_at IS NULL
              AND NOT a.media_rejected`
        }
        const emoji = (column: string) => {
          const url = sql(column)
          // The image at the URL may have changed.
          return sql`SELECT e.${url}, ${emojiBytesMax}::int, e.refreshed_at, false, false FROM custom_emojis e
            WHERE e.domain IS NOT NULL AND remote_key(e.${url}) = ${key} AND NOT e.disabled
              AND NOT EXISTS (SELECT FROM domain_blocks b WHERE (b.reject_media OR b.severity = 'suspend')
                AND (domain_key(e.domain) = domain_key(b.domain) OR starts_with(domain_key(e.domain), domain_key(b.domain) || '.')))`
        }
        const [named] = yield* namedRows(sql`
          SELECT url, bytes_max, unmeasured, unlooked, greatest((extract(epoch FROM since) * 1000)::bigint, (SELECT (value #>> '{}')::bigint FROM settings
            WHERE name = ${refreshedSetting}), 0) AS not_before
          FROM (${attachment("remoteUrl")} UNION ALL ${attachment("previewRemoteUrl")}
            UNION ALL ${picture("avatarRemoteUrl")} UNION ALL ${picture("headerRemoteUrl")}
            UNION ALL ${emoji("url")} UNION ALL ${emoji("staticUrl")}) named LIMIT 1`)
        return named
      }, Effect.orDie)

      /** Stores the size of an image, so that clients can reserve space; the file is shown even if this fails. */
      const measure = Effect.fnUntraced(function*(key: string, { bytes, mime, read }: RemoteCopy) {
        if (!mime.startsWith("image/") || unmeasurable.has(key)) return
        const chunks = yield* Stream.runCollect(read({ offset: 0, length: Math.min(bytes, measuredBytesMax) }))
        const size = yield* tools.measure(Buffer.concat(chunks))
        if (size === undefined) {
          unmeasurable.set(key, true)
          return
        }
        yield* tracked(
          "status",
          (rows: ReadonlyArray<{ readonly statusId: bigint | null }>) => rows.flatMap(({ statusId }) => statusId ?? [])
        )(statusIdRows(sql`
          UPDATE media_attachments SET meta = meta || ${JSON.stringify({ original: size })}::jsonb
          WHERE remote_url IS NOT NULL AND remote_key(remote_url) = ${key} AND type = 'image'
            AND meta -> 'original' IS NULL RETURNING status_id`))
      })

      /** Stores an avatar's perceptual hash, for spam rules. Runs in the background. */
      const hashAvatar = Effect.fnUntraced(function*(key: string, { bytes, mime, read }: RemoteCopy) {
        const readable = mime.startsWith("image/") && bytes <= profilePictureBytesMax
        const chunks = readable ? yield* Stream.runCollect(read({ offset: 0, length: bytes })) : []
        const likeness = chunks.length === 0 ? 0n : yield* tools.likeness(Buffer.concat(chunks))
        yield* sql`UPDATE accounts SET avatar_hash = ${likeness} WHERE avatar_remote_url IS NOT NULL
          AND remote_key(avatar_remote_url) = ${key} AND avatar_hash IS NULL`
      })

      const bodyOf = ({ bytesMax, url }: NamedFile) =>
        Effect.map(
          outbound.stream({ url, type: files, bytesMax, secondsMax: remoteFileSecondsMax }),
          ({ body }) => body
        )

      const get = traced("RemoteFiles.get")(function*(key: string, admit: Effect.Effect<unknown, TooManyRequests>) {
        const named = isRemoteKey(key) ? yield* find(key) : undefined
        if (named === undefined) return yield* new RecordNotFound()
        const now = yield* Clock.currentTimeMillis
        const failedAt = failures.get(key)
        if (failedAt !== undefined && now >= failedAt && now - failedAt < failureMillis) {
          return yield* new NoRemoteFile({ text: `${named.url} could not be fetched within the last minute` })
        }
        const body = Stream.unwrap(Effect.andThen(admit, bodyOf(named)))
        const copy = yield* copies.get(key, Number(named.notBefore), body).pipe(
          Effect.tapError(({ _tag }) =>
            // The host did not cause the other errors.
            Effect.sync(() => _tag === "StorageFailed" || _tag === "TooManyRequests" || failures.set(key, now))
          )
        )
        if (named.unmeasured) {
          yield* Effect.catchCause(measure(key, copy), (cause) => Effect.logDebug("a picture was not measured", cause))
        }
        if (named.unlooked && !hashing.has(key) && hashing.size < hashingMax) {
          hashing.add(key)
          yield* turns.withPermit(hashAvatar(key, copy)).pipe(
            Effect.catchCause((cause) => Effect.logDebug("an avatar was not hashed", cause)),
            Effect.ensuring(Effect.sync(() => hashing.delete(key))),
            Effect.forkIn(scope)
          )
        }
        return copy
      })

      return RemoteFiles.of({ get })
    })
  )
}
