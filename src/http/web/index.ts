import { Layer } from "effect"
import * as Account from "./account/index.ts"
import * as Acts from "./acts/index.ts"
import * as Announcements from "./announcements/index.ts"
import * as Catchup from "./catchup/index.ts"
import * as Collections from "./collections/index.ts"
import * as Compose from "./compose/index.ts"
import * as Conversations from "./conversations/index.ts"
import * as Crawlers from "./crawlers/index.ts"
import * as Explore from "./explore/index.ts"
import * as Feeds from "./feeds/index.ts"
import * as Followed from "./followed/index.ts"
import * as Hashtags from "./hashtags/index.ts"
import * as Keys from "./keys/index.ts"
import * as Lists from "./lists/index.ts"
import * as Live from "./live/index.ts"
import * as Notifications from "./notifications/index.ts"
import * as Offline from "./offline/index.ts"
import * as Profiles from "./profiles/index.ts"
import * as Remote from "./remote/index.ts"
import * as Search from "./search/index.ts"
import * as Settings from "./settings/index.ts"
import * as Shell from "./shell/index.ts"
import * as MemberFrames from "./shell/MemberFrames.ts"
import * as Threads from "./threads/index.ts"
import * as Timelines from "./timelines/index.ts"
import * as Transfers from "./transfers/index.ts"

/** Pages of the web client, and the files that they refer to. */
export const layer = Layer.mergeAll(
  Account.layer,
  Acts.layer,
  Announcements.layer,
  Catchup.layer,
  Collections.layer,
  Compose.layer,
  Conversations.layer,
  Crawlers.layer,
  Explore.layer,
  Feeds.layer,
  Followed.layer,
  Hashtags.layer,
  Lists.layer,
  Notifications.layer,
  Keys.layer,
  Live.layer,
  Offline.layer,
  Profiles.layer,
  Remote.layer,
  Search.layer,
  Settings.layer,
  Threads.layer,
  Timelines.layer,
  Transfers.layer
).pipe(Layer.provideMerge(Shell.layer))

/** Frame of members' pages for other areas. */
export const memberFrame = MemberFrames.layer
