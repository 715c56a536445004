import { Effect, Layer, Semaphore } from "effect"
import type { Sharding } from "effect/cluster"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { MediaActors } from "../actors/media/MediaActors.ts"
import * as MediaEntity from "../actors/media/MediaEntity.ts"
import * as MediaSweep from "../actors/media/MediaSweep.ts"
import type { Broadcast } from "../services/events/Broadcast.ts"
import { EmojiCopies } from "../services/media/EmojiCopies.ts"
import { EmojiRecords } from "../services/media/EmojiRecords.ts"
import { Emojis } from "../services/media/Emojis.ts"
import { FileOwners } from "../services/media/FileOwners.ts"
import { InstanceUploads } from "../services/media/InstanceUploads.ts"
import { MediaAttachments } from "../services/media/MediaAttachments.ts"
import { MediaJobs } from "../services/media/MediaJobs.ts"
import type { MediaTools } from "../services/media/MediaTools.ts"
import { RemoteFiles } from "../services/media/RemoteFiles.ts"
import type { Storage } from "../services/media/Storage.ts"
import { StoredFiles } from "../services/media/StoredFiles.ts"
import { Uploads } from "../services/media/Uploads.ts"
import { AuditLog } from "../services/staff/AuditLog.ts"
import { Environment } from "./Environment.ts"
import * as InstancePictureEncoding from "./media/InstancePictureEncoding.ts"
import * as MediaPrograms from "./media/Tools.ts"
import * as RemoteCache from "./storage/RemoteCache.ts"
import * as Storages from "./storage/Storages.ts"

const turns = Layer.effect(
  MediaEntity.MediaTurns,
  Effect.flatMap(Environment, ({ mediaConcurrency }) => Semaphore.make(mediaConcurrency))
)

type Rows = FileOwners | MediaJobs | StoredFiles
type Tools = MediaEntity.MediaTurns | MediaTools | SecureRandom.SecureRandom | Storage
type Stored = Broadcast | Sharding.Sharding | SqlClient.SqlClient

/** Like `layer`, over provided storage, tools, turns, and rows of jobs and files. */
export const layerOverRows = Layer.satisfiesServicesType<Rows | Tools | Stored>()(
  Layer.mergeAll(MediaEntity.layer, MediaSweep.layer).pipe(
    Layer.provideMerge(MediaActors.layer),
    Layer.provideMerge(Layer.mergeAll(MediaAttachments.layerNoDeps, Uploads.layerNoDeps))
  )
)

/** Like `layer`, over provided storage, tools and turns. */
export const layerOver = Layer.satisfiesServicesType<Tools | Stored>()(
  layerOverRows.pipe(Layer.provideMerge(Layer.mergeAll(FileOwners.layer, MediaJobs.layer, StoredFiles.layer)))
)

/** The server's own emoji, copies of remote emoji, and the instance's pictures. */
const instancePictures = EmojiCopies.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Emojis.layerNoDeps, EmojiRecords.layer, InstanceUploads.layerNoDeps)),
  Layer.provide([AuditLog.layer, InstancePictureEncoding.layer])
)

/** Uploaded files: their storage, processing, and the actors of their jobs. Needs the cluster and the database. */
export const layer = instancePictures.pipe(
  Layer.provideMerge(layerOver),
  Layer.provide(turns),
  Layer.provideMerge(RemoteFiles.layer.pipe(Layer.provideMerge(RemoteCache.layer))),
  Layer.provideMerge(Layer.mergeAll(Storages.layer, MediaPrograms.layer))
)
