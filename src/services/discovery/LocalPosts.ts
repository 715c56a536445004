import { Effect } from "effect"
import { RecordNotFound } from "../Errors.ts"
import type { Statuses } from "../statuses/Statuses.ts"

/**
 * The post of this server at an address, as long as everybody may read it. An address names a post together with its author, so
 * that nobody can put words into another's mouth.
 */
export const localPost = Effect.fnUntraced(function*(statuses: Statuses["Service"], username: string, id: bigint) {
  const status = yield* statuses.find(undefined, id)
  const record = (yield* statuses.load([status.id])).find((found) => found.id === status.id)
  return record === undefined || !record.local || record.username.toLowerCase() !== username.toLowerCase()
    ? yield* new RecordNotFound()
    : { status, record }
})
