import { Layer } from "effect"
import { Drafts } from "../../../services/statuses/Drafts.ts"
import { MediaUploads } from "../../v1/MediaUploads.ts"
import * as Completions from "./Completions.ts"
import { ComposedPosts } from "./ComposedPosts.ts"
import { ComposePage } from "./ComposePage.ts"
import * as ComposeRoutes from "./ComposeRoutes.ts"
import { Compositions } from "./Compositions.ts"
import * as EmojiPicker from "./EmojiPicker.ts"
import * as HistoryPage from "./HistoryPage.ts"
import * as Redrafts from "./Redrafts.ts"
import * as Sharing from "./Sharing.ts"
import * as UnpublishedPages from "./UnpublishedPages.ts"

/** The composer, drafts, scheduled posts, and versions of edited posts. */
export const layer = Layer.mergeAll(
  Completions.layer,
  ComposeRoutes.layer,
  EmojiPicker.layer,
  HistoryPage.layer,
  Redrafts.layer,
  Sharing.layer,
  UnpublishedPages.layer
).pipe(
  Layer.provide([ComposedPosts.layer, ComposePage.layer, MediaUploads.layer]),
  Layer.provide([Compositions.layer, Drafts.layer])
)
