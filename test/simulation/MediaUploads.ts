import { Context, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { MediaActors } from "../../src/actors/media/MediaActors.ts"
import { type AccountId, MediaId } from "../../src/services/database/Ids.ts"
import { FileOwners } from "../../src/services/media/FileOwners.ts"
import { typeNamed } from "../../src/services/media/FileTypes.ts"
import { MediaAttachments } from "../../src/services/media/MediaAttachments.ts"
import { StoredFiles } from "../../src/services/media/StoredFiles.ts"
import { Uploads } from "../../src/services/media/Uploads.ts"
import * as Files from "./Files.ts"
import { Machine } from "./Machine.ts"
import { Dice } from "./Seeded.ts"
import type { Shared, World } from "./World.ts"

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
const type = typeNamed("image/png")

const sweepsMax = 4
const sweepPauseMillisMax = 5_000

/** Upload handlers of a node. */
export const make = Effect.gen(function*() {
  const attachments = yield* MediaAttachments
  const mediaActors = yield* MediaActors
  const uploads = yield* Uploads
  /**
   * Uploads a file in pieces, records it, and waits briefly for its job; returns its id, as `POST /api/v2/media` does.
   */
  const upload = (owner: AccountId) =>
    Effect.gen(function*() {
      const ticket = yield* uploads.receive(Stream.make(png.subarray(0, 8), png.subarray(8)), 100, [])
      const file = uploads.find(ticket)
      if (file === undefined) return yield* Effect.die("the file is not there")
      return yield* attachments.create(owner, { upload: { ...file, type }, thumbnail: undefined }).pipe(
        Effect.ensuring(uploads.close([ticket]))
      )
    }).pipe(
      Effect.map((id) => MediaId.make(id)),
      Effect.tap((id) => mediaActors.wait(id, 2))
    )
  /** Returns true if the file is ready. */
  const isReady = (owner: AccountId, id: MediaId) =>
    Effect.map(attachments.find(owner, id), ({ state }) => state === "ready")
  return { upload, isReady }
})

export type MediaUploads = Effect.Success<typeof make>

const dayMillis = 90_000_000

/**
 * Removes unattached files with a clock that is `days` days of 25 hours ahead, so that every unattached file has
 * expired.
 */
export const sweep = Effect.fnUntraced(function*(world: World, { sql }: Shared, days: number) {
  const later = new Machine(world.time, world.base, world.seed, `sweep at ${world.time.now} ${days}`, days * dayMillis)
  const services = Layer.fresh(MediaAttachments.layer.pipe(
    Layer.provideMerge(StoredFiles.layer),
    Layer.provide(FileOwners.layer),
    Layer.provide([Files.layer(world, later), Layer.succeed(SqlClient.SqlClient, sql)])
  ))
  yield* Effect.gen(function*() {
    const context = yield* Layer.build(services)
    yield* Context.get(context, MediaAttachments).sweep
    while ((yield* Context.get(context, StoredFiles).sweep) > 0);
  }).pipe(Effect.scoped, Effect.ignore, later.on(world.outside))
})

/** In some seeds, sweeps while files are uploaded and attached, as if everything took a day. */
export const sweepRepeatedly = Effect.fnUntraced(function*(world: World, shared: Shared) {
  const dice = new Dice(world.seed, "sweeps")
  if (!world.media || dice.chance(0.5)) return
  for (let n = 0; n < sweepsMax; n++) {
    yield* Effect.sleep(dice.between(500, sweepPauseMillisMax))
    yield* sweep(world, shared, 1)
    world.count("media sweep")
  }
})
