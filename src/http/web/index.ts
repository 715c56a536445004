import { Layer } from "effect"
import * as Acts from "./acts/index.ts"
import * as Crawlers from "./crawlers/index.ts"
import * as Feeds from "./feeds/index.ts"
import * as Hashtags from "./hashtags/index.ts"
import * as Profiles from "./profiles/index.ts"
import * as Remote from "./remote/index.ts"
import * as Shell from "./shell/index.ts"
import * as Threads from "./threads/index.ts"
import * as Timelines from "./timelines/index.ts"

/** Pages of the web client, and the files that they refer to. */
export const layer = Layer.mergeAll(
  Acts.layer,
  Feeds.layer,
  Hashtags.layer,
  Crawlers.layer,
  Profiles.layer,
  Remote.layer,
  Threads.layer,
  Timelines.layer
).pipe(Layer.provideMerge(Shell.layer))
