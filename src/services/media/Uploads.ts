import { Context, Effect, Layer, type Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import { traced } from "../runtime/Traced.ts"
import { type FileType, sniff, uploadExtension } from "./FileTypes.ts"
import type { StorageFailed } from "./Storage.ts"
import { type FileTooLarge, StoredFiles } from "./StoredFiles.ts"

/** A file of a request. `type` is that of its content; undefined if unknown to this server. */
export interface Upload {
  readonly name: string
  readonly bytes: number
  readonly type: FileType | undefined
}

/**
 * Files of running requests, stored as they arrive. A ticket in the request's parameters refers to each file; tickets
 * cannot be guessed. A handler that keeps a file sets its owner before the request ends.
 */
export class Uploads extends Context.Service<Uploads, {
  /** Stores a file and returns its ticket; `earlier` has the tickets of the request's other files. */
  readonly receive: <E>(
    bytes: Stream.Stream<Uint8Array, E>,
    bytesMax: number,
    earlier: ReadonlyArray<string>
  ) => Effect.Effect<
    string,
    E | StorageFailed | SqlError | FileTooLarge
  >
  readonly find: (ticket: string) => Upload | undefined
  /** Ends a request: invalidates its tickets and deletes files without an owner. */
  readonly close: (tickets: ReadonlyArray<string>) => Effect.Effect<void>
}>()("murmuration/services/media/Uploads") {
  static readonly layerNoDeps = Layer.effect(
    Uploads,
    Effect.gen(function*() {
      const files = yield* StoredFiles
      const random = yield* SecureRandom.SecureRandom
      /** Open uploads by their tickets. Each belongs to a running request, so the number of requests bounds the map. */
      const open = new Map<string, Upload>()
      return Uploads.of({
        receive: Effect.fnUntraced(function*(bytes, bytesMax, earlier) {
          const names = earlier.flatMap((ticket) => open.get(ticket)?.name ?? [])
          const { bytes: count, head, name } = yield* files.receive(uploadExtension, bytes, bytesMax, names)
          const ticket = yield* random.uuidV4()
          open.set(ticket, { name, bytes: count, type: yield* sniff(head) })
          return ticket
        }),
        find: (ticket) => open.get(ticket),
        close: traced("Uploads.close")(function*(tickets: ReadonlyArray<string>) {
          const names = tickets.flatMap((ticket) => open.get(ticket)?.name ?? [])
          for (const ticket of tickets) open.delete(ticket)
          yield* files.discard(names)
        })
      })
    })
  )
  static readonly layer = Uploads.layerNoDeps.pipe(Layer.provide(StoredFiles.layer))
}
