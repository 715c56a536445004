import { Effect, type Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { videoBytesMax } from "../../services/instance/ContentLimits.ts"
import { FileOwners } from "../../services/media/FileOwners.ts"
import { sniff, uploadExtension } from "../../services/media/FileTypes.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { ArchiveReader, type StagedItem } from "../../services/transfers/archives/ArchiveReader.ts"
import { holdFile } from "../../services/transfers/archives/StagedRows.ts"
import type { SourceFailed } from "../../services/transfers/live/LiveSources.ts"

/** Reads a file of the other server. */
export type Reading = <A, E>(
  url: string,
  use: (body: Stream.Stream<Uint8Array, SourceFailed>) => Effect.Effect<A, E>
) => Effect.Effect<A, E | SourceFailed>

/** Names the files of a post by their URLs: files of other hosts, or of other queries, may have the same path. */
export const byUrl = (staged: StagedItem): StagedItem =>
  staged.item.kind === "post"
    ? { ...staged, item: { ...staged.item, files: staged.item.note.attachments.map(({ url }) => url) } }
    : staged

/** Stores the files of posts that are imported from another server, one after the other. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const fileOwners = yield* FileOwners
  const files = yield* StoredFiles
  const reader = yield* ArchiveReader

  /** Stores a file; undefined if its type is unknown or it is too large. */
  const stored = (url: string, body: Stream.Stream<Uint8Array, SourceFailed>) =>
    Effect.gen(function*() {
      const { bytes, head, name } = yield* files.receive(uploadExtension, body, videoBytesMax)
      const type = yield* sniff(head)
      if (type !== undefined) return { path: url, name, type: type.mime, bytes }
      yield* files.discard([name])
      return undefined
    }).pipe(Effect.catchTag("FileTooLarge", () => Effect.undefined))

  return {
    /**
     * Fetches the files of posts, named by their URLs, and gives each to the import by a commit, which renews the lease: a retry fetches only
     * the others. Files that the server refuses are left out, with `last` also those that it does not send now.
     */
    fetch: Effect.fnUntraced(function*<E>(
      transferId: bigint,
      items: ReadonlyArray<StagedItem>,
      read: Reading,
      last: boolean,
      commit: (write: Effect.Effect<void, SqlError>) => Effect.Effect<void, E>
    ) {
      const urls = new Set(items.flatMap(({ item }) => item.kind === "post" ? item.files : []))
      const present = yield* reader.present(transferId, [...urls])
      for (const url of urls) {
        if (present.has(url)) continue
        const file = yield* read(url, (body) => stored(url, body)).pipe(
          Effect.catchTag(
            "SourceFailed",
            (error) => error.retrySeconds === undefined || last ? Effect.undefined : Effect.fail(error)
          )
        )
        yield* commit(
          file === undefined ? Effect.void : Effect.asVoid(holdFile(sql, fileOwners, transferId, file))
        )
      }
    })
  }
})
