import { Layer } from "effect"
import { Drafts } from "../../../services/statuses/Drafts.ts"
import { MediaUploads } from "../../v1/MediaUploads.ts"
import * as Completions from "./Completions.ts"
import * as Compose from "./Compose.ts"
import { ComposedPosts } from "./ComposedPosts.ts"
import { ComposePage } from "./ComposePage.ts"
import { Compositions } from "./Compositions.ts"
import * as EmojiList from "./EmojiList.ts"
import * as History from "./History.ts"
import * as Redrafts from "./Redrafts.ts"
import * as Sharing from "./Sharing.ts"
import * as UnpublishedPages from "./UnpublishedPages.ts"

/** The composer, drafts, scheduled posts, and versions of edited posts. */
export const layer = Layer.mergeAll(
  Completions.layer,
  Compose.layer,
  EmojiList.layer,
  History.layer,
  Redrafts.layer,
  Sharing.layer,
  UnpublishedPages.layer
).pipe(
  Layer.provide([ComposedPosts.layer, ComposePage.layer, MediaUploads.layer]),
  Layer.provide([Compositions.layer, Drafts.layer])
)
