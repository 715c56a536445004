import { Layer } from "effect"
import * as SitePictures from "../layers/media/SitePictures.ts"
import * as Storages from "../layers/storage/Storages.ts"
import { Emojis } from "../services/media/Emojis.ts"
import { FileOwners } from "../services/media/FileOwners.ts"
import { MediaAttachments } from "../services/media/MediaAttachments.ts"
import { MediaUsage } from "../services/media/MediaUsage.ts"
import { RemoteRefreshes } from "../services/media/RemoteRefreshes.ts"
import { SiteThumbnails } from "../services/media/SiteThumbnails.ts"
import { StoredFiles } from "../services/media/StoredFiles.ts"
import * as Operator from "./Operator.ts"

/** The services behind the commands about files. */
export const layer = Layer.mergeAll(
  Emojis.layer,
  MediaAttachments.layer,
  MediaUsage.layer,
  RemoteRefreshes.layer,
  SiteThumbnails.layer
).pipe(
  Layer.provideMerge(StoredFiles.layer),
  Layer.provideMerge(Layer.mergeAll(FileOwners.layer, Storages.layer, SitePictures.layer)),
  Layer.provideMerge(Operator.layer)
)
