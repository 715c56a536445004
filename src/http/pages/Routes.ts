import { Layer } from "effect"
import * as Front from "./Front.ts"
import * as Hashtags from "./Hashtags.ts"
import * as Pictures from "./Pictures.ts"
import { Posts } from "./Posts.ts"
import * as Profiles from "./Profiles.ts"
import { PublicPages } from "./PublicPages.ts"
import * as PublicStyle from "./PublicStyle.ts"
import * as Threads from "./Threads.ts"
import * as Unknown from "./Unknown.ts"

/** The plain pages that anybody may look at, and the files that they and the instance's document name. */
export const layer = Layer.mergeAll(
  Front.layer,
  Hashtags.layer,
  Pictures.layer,
  Profiles.layer,
  PublicStyle.layer,
  Threads.layer,
  Unknown.layer
).pipe(Layer.provide(Posts.layer), Layer.provide(PublicPages.layer))
