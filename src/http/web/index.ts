import { Layer } from "effect"
import * as Acts from "./acts/index.ts"
import * as Settings from "./settings/index.ts"
import * as Shell from "./shell/index.ts"
import * as MemberFrames from "./shell/MemberFrames.ts"
import * as Timelines from "./timelines/index.ts"

/** Pages of the web client, and the files that they refer to. */
export const layer = Layer.mergeAll(
  Acts.layer,
  Settings.layer,
  Timelines.layer
).pipe(Layer.provideMerge(Shell.layer))

/** Frame of members' pages for other areas. */
export const memberFrame = MemberFrames.layer
