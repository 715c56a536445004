import { Effect } from "effect"
import * as MediaUploads from "./MediaUploads.ts"
import type { Shared, World } from "./World.ts"

interface MediaRow {
  readonly id: bigint
  readonly state: string
  readonly statusId: bigint | null
  readonly scheduledStatusId: bigint | null
  readonly names: ReadonlyArray<string>
}

/**
 * I15: no job is stuck, files of shown statuses exist, and after a day nothing is left of unattached files: no row, no
 * ledger entry, no file.
 */
export const check = Effect.fnUntraced(function*(world: World, shared: Shared) {
  const { sql } = shared
  const broken: Array<string> = []
  const waiting = yield* sql<{ id: bigint; state: string; attempts: number }>`
    SELECT id, state, attempts FROM media_attachments WHERE state IN ('queued', 'processing')`
  for (const { attempts, id, state } of waiting) {
    broken.push(`I15: the job ${id} is ${state} after ${attempts} attempts`)
  }

  for (const days of [2, 3]) yield* MediaUploads.sweep(world, shared, days)
  const rows = yield* sql<MediaRow>`SELECT id, state, status_id, scheduled_status_id,
    array_remove(ARRAY[file_name, preview_name, upload_name], NULL) AS names FROM media_attachments`
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const { id, names, scheduledStatusId, state, statusId } of rows) {
    if (statusId === null && scheduledStatusId === null) broken.push(`I15: the unattached file ${id} still exists`)
    else if (state !== "ready") broken.push(`I15: a post has the file ${id}, which is ${state}`)
    else world.count("media attached")
    for (const name of names) {
      if (!world.files.has(name)) broken.push(`I15: ${name} of the attached file ${id} is missing`)
    }
  }
  const shown = yield* sql<{ id: bigint; mediaIds: ReadonlyArray<bigint> }>`
    SELECT id, media_ids FROM statuses WHERE deleted_at IS NULL AND media_ids <> '{}'`
  for (const { id, mediaIds } of shown) {
    for (const media of mediaIds) {
      if (byId.get(media)?.statusId !== id) {
        broken.push(`I15: the status ${id} shows the file ${media} of another post`)
      }
    }
  }
  const held = new Set(rows.flatMap(({ names }) => names))
  const ledger = yield* sql<{ name: string }>`SELECT name FROM stored_files`
  for (const { name } of ledger) if (!held.has(name)) broken.push(`I15: ${name} is in the ledger, but unused`)
  for (const name of world.files.keys()) if (!held.has(name)) broken.push(`I15: ${name} is in storage, but unused`)
  return broken
})
