import { Context, type Effect, Schema, type Stream } from "effect"
import type { TooManyRequests } from "../Errors.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import type { Range, StorageFailed } from "./Storage.ts"

/** What a host sent is no file that we show. */
export class NoRemoteFile extends Schema.TaggedError<NoRemoteFile>()("NoRemoteFile", { text: Schema.String }) {
  override get message() {
    return this.text
  }
}

/** Why a file was not fetched, or not all of it. */
export type FetchFailed = OutboundError | TooManyRequests

/** A copy of somebody else's file; its type is what its content says. */
export interface RemoteCopy {
  readonly mime: string
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
  readonly read: (range: Range) => Stream.Stream<Uint8Array, StorageFailed>
}

/**
 * Copies of files of others, on this machine and never more than so many bytes: what was viewed longest ago goes first.
 * `layers/storage` supplies it.
 */
export class RemoteCopies extends Context.Service<RemoteCopies, {
  /**
   * The copy under a key that was fetched after `notBefore`. Else what `body` gives, asked for once however many want
   * it. Who stops waiting does not stop it.
   */
  readonly get: (
    key: string,
    notBefore: number,
    body: Stream.Stream<Uint8Array, FetchFailed>
  ) => Effect.Effect<RemoteCopy, FetchFailed | NoRemoteFile | StorageFailed>
  /** Room that they take on this machine, and may. */
  readonly usage: Effect.Effect<{ readonly files: number; readonly bytes: number; readonly bytesMax: number }>
}>()("murmuration/services/media/RemoteCopies") {}

/** Keys as `remote_key` of SQL makes them. */
export const isRemoteKey = (key: string): boolean => /^[0-9a-f]{40}$/.test(key)
