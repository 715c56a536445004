import { Context, type Effect, Schema, type Stream } from "effect"
import type { OutboundError } from "../outbound/OutboundError.ts"
import type { TooManyRequests } from "../runtime/Errors.ts"
import type { Range, StorageFailed } from "./Storage.ts"

/** The response is not a file that this server shows. */
export class NoRemoteFile extends Schema.TaggedError<NoRemoteFile>()("NoRemoteFile", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/** Reason why a file was not fetched completely. */
export type FetchFailed = OutboundError | TooManyRequests

/** Copy of a remote file; its type is that of the content. */
export interface RemoteCopy {
  readonly mime: string
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
  readonly read: (range: Range) => Stream.Stream<Uint8Array, StorageFailed>
}

/**
 * Local copies of remote files, within a maximum of bytes; the least recently viewed are evicted. `layers/storage`
 * supplies it.
 */
export class RemoteCopies extends Context.Service<RemoteCopies, {
  /**
   * Returns the copy under a key if fetched after `notBefore`. Otherwise stores `body`, fetched once for all concurrent
   * callers; an interrupted caller does not stop it.
   */
  readonly get: (
    key: string,
    notBefore: number,
    body: Stream.Stream<Uint8Array, FetchFailed>
  ) => Effect.Effect<RemoteCopy, FetchFailed | NoRemoteFile | StorageFailed>
  /** Local disk usage, and its maximum. */
  readonly usage: Effect.Effect<{ readonly files: number; readonly bytes: number; readonly bytesMax: number }>
}>()("murmuration/services/media/RemoteCopies") {}

/** Returns true for keys made by SQL's `remote_key`. */
export const isRemoteKey = (key: string): boolean => /^[0-9a-f]{40}$/.test(key)
