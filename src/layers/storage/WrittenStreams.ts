import { Effect, type FileSystem, Stream } from "effect"
import { storageFailed as failed } from "../../services/media/Storage.ts"
import { freeChunk } from "../../services/runtime/OneTimeChunks.ts"

/** Writes a stream to an open file, and frees the memory of its chunks. */
export const writeStream = <E>(file: FileSystem.File, bytes: Stream.Stream<Uint8Array, E>) =>
  Stream.runForEach(bytes, (chunk) => Effect.map(Effect.mapError(file.writeAll(chunk), failed), () => freeChunk(chunk)))
