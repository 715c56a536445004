import { Effect, type Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { videoBytesMax } from "../../services/instance/ContentLimits.ts"
import { FileOwners } from "../../services/media/FileOwners.ts"
import { sniff, uploadExtension } from "../../services/media/FileTypes.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { ArchiveReader, type StagedItem } from "../../services/transfers/archives/ArchiveReader.ts"
import { holdFile, type StagedFile } from "../../services/transfers/archives/StagedRows.ts"
import type { SourceFailed } from "../../services/transfers/live/LiveSources.ts"

/** Reads a file of the other server. */
type Reading = <A, E>(
  url: string,
  use: (body: Stream.Stream<Uint8Array, SourceFailed>) => Effect.Effect<A, E>
) => Effect.Effect<A, E | SourceFailed>

/** Stores the files of posts that are imported from another server, one after the other. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const fileOwners = yield* FileOwners
  const files = yield* StoredFiles
  const reader = yield* ArchiveReader

  /** Stores a file; undefined if its type is unknown or it is too large. */
  const stored = (path: string, body: Stream.Stream<Uint8Array, SourceFailed>) =>
    Effect.gen(function*() {
      const { bytes, head, name } = yield* files.receive(uploadExtension, body, videoBytesMax)
      const type = yield* sniff(head)
      if (type !== undefined) return { path, name, type: type.mime, bytes }
      yield* files.discard([name])
      return undefined
    }).pipe(Effect.catchTag("FileTooLarge", () => Effect.undefined))

  return {
    /**
     * Fetches the files of posts, and returns the effect that gives them to the import, for the transaction of its step.
     * Files that the server refuses are left out, with `last` also those that it does not send now.
     */
    fetch: Effect.fnUntraced(function*(
      transferId: bigint,
      items: ReadonlyArray<StagedItem>,
      read: Reading,
      last: boolean
    ) {
      const wanted = new Map(
        items.flatMap(({ item }) =>
          item.kind === "post"
            ? item.files.flatMap((path, at) => {
              const url = item.note.attachments[at]?.url
              return url === undefined ? [] : [[path, url] as const]
            })
            : []
        )
      )
      const present = yield* reader.present(transferId, [...wanted.keys()])
      const found: Array<StagedFile> = []
      for (const [path, url] of wanted) {
        if (present.has(path)) continue
        const file = yield* read(url, (body) => stored(path, body)).pipe(
          Effect.catchTag(
            "SourceFailed",
            (error) => error.retrySeconds === undefined || last ? Effect.undefined : Effect.fail(error)
          )
        )
        if (file !== undefined) found.push(file)
      }
      const prepare: Effect.Effect<void, SqlError> = Effect.forEach(
        found,
        (file) => holdFile(sql, fileOwners, transferId, file),
        { discard: true }
      )
      return prepare
    })
  }
})
