import { Effect, Layer, Semaphore } from "effect"
import * as MediaJob from "../actors/media/Entity.ts"
import { MediaActors } from "../actors/media/MediaActors.ts"
import * as MediaSweep from "../actors/media/MediaSweep.ts"
import { FileOwners } from "../services/media/FileOwners.ts"
import { MediaAttachments } from "../services/media/MediaAttachments.ts"
import { MediaJobs } from "../services/media/MediaJobs.ts"
import { RemoteFiles } from "../services/media/RemoteFiles.ts"
import { StoredFiles } from "../services/media/StoredFiles.ts"
import { Uploads } from "../services/media/Uploads.ts"
import { Environment } from "./Environment.ts"
import * as Tools from "./media/Tools.ts"
import * as RemoteCache from "./storage/RemoteCache.ts"
import * as Storages from "./storage/Storages.ts"

const turns = Layer.effect(
  MediaJob.MediaTurns,
  Effect.flatMap(Environment, ({ mediaConcurrency }) => Semaphore.make(mediaConcurrency))
)

/** The same as `layer` over the rows of jobs and files from outside, too. */
export const layerOverRows = Layer.mergeAll(MediaJob.layer, MediaSweep.layer).pipe(
  Layer.provideMerge(MediaActors.layer),
  Layer.provideMerge(Layer.mergeAll(MediaAttachments.layer, Uploads.layer))
)

/** The same as `layer` over storage, tools and turns from outside. */
export const layerOver = layerOverRows.pipe(
  Layer.provideMerge(MediaJobs.layer),
  Layer.provideMerge(StoredFiles.layer),
  Layer.provideMerge(FileOwners.layer)
)

/** Uploaded files: where they are, what works on them, and the actors of their jobs. Needs the cluster and the database. */
export const layer = layerOver.pipe(
  Layer.provide(turns),
  Layer.provideMerge(RemoteFiles.layer.pipe(Layer.provide(RemoteCache.layer))),
  Layer.provideMerge(Layer.mergeAll(Storages.layer, Tools.layer))
)
