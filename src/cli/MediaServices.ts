import { Layer } from "effect"
import * as InstancePictureEncoding from "../layers/media/InstancePictureEncoding.ts"
import * as Storages from "../layers/storage/Storages.ts"
import { Emojis } from "../services/media/Emojis.ts"
import { FileOwners } from "../services/media/FileOwners.ts"
import { InstanceUploads } from "../services/media/InstanceUploads.ts"
import { MediaAttachments } from "../services/media/MediaAttachments.ts"
import { MediaUsage } from "../services/media/MediaUsage.ts"
import { RemoteRefreshes } from "../services/media/RemoteRefreshes.ts"
import { StoredFiles } from "../services/media/StoredFiles.ts"
import * as Operator from "./Operator.ts"

/** Services of the commands about files. */
export const layer = Layer.satisfiesServicesType<never>()(
  Layer.mergeAll(
    Emojis.layer,
    MediaAttachments.layer,
    MediaUsage.layer,
    RemoteRefreshes.layer,
    InstanceUploads.layer
  ).pipe(
    Layer.provideMerge(StoredFiles.layer),
    Layer.provideMerge(Layer.mergeAll(FileOwners.layer, Storages.layer, InstancePictureEncoding.layer)),
    Layer.provideMerge(Operator.layer)
  )
)
