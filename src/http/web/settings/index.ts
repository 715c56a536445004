import { Layer } from "effect"
import * as Cleanup from "./Cleanup.ts"
import * as DomainBlocks from "./DomainBlocks.ts"
import * as Featured from "./Featured.ts"
import * as Filters from "./Filters.ts"
import * as HiddenPeople from "./HiddenPeople.ts"
import * as Interactions from "./Interactions.ts"
import * as Notifications from "./Notifications.ts"
import * as Posting from "./Posting.ts"
import * as Privacy from "./Privacy.ts"
import * as Profile from "./Profile.ts"
import * as Reading from "./Reading.ts"
import * as Relationships from "./Relationships.ts"
import * as SettingsList from "./SettingsList.ts"

/** Settings of members. */
export const layer = Layer.mergeAll(
  Cleanup.layer,
  DomainBlocks.layer,
  Featured.layer,
  Filters.layer,
  HiddenPeople.layer,
  Interactions.layer,
  Notifications.layer,
  Posting.layer,
  Privacy.layer,
  Profile.layer,
  Reading.layer,
  Relationships.layer,
  SettingsList.layer
)
