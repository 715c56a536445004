import { Layer } from "effect"
import * as Acts from "./acts/index.ts"
import * as Hashtags from "./hashtags/index.ts"
import * as Keys from "./keys/index.ts"
import * as Live from "./live/index.ts"
import * as Offline from "./offline/index.ts"
import * as Profiles from "./profiles/index.ts"
import * as Shell from "./shell/index.ts"
import * as Threads from "./threads/index.ts"
import * as Timelines from "./timelines/index.ts"

/** Pages of the web client, and the files that they refer to. */
export const layer = Layer.mergeAll(
  Acts.layer,
  Hashtags.layer,
  Keys.layer,
  Live.layer,
  Offline.layer,
  Profiles.layer,
  Threads.layer,
  Timelines.layer
).pipe(Layer.provideMerge(Shell.layer))
