import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Forms } from "../../html/Forms.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { accountPath } from "../../html/PagePaths.ts"
import { Visitors } from "../../html/Visitors.ts"
import * as AccountPage from "./AccountPage.ts"
import * as Cleanup from "./Cleanup.ts"
import * as DeletionPage from "./DeletionPage.ts"
import * as DomainBlocks from "./DomainBlocks.ts"
import * as Emails from "./Emails.ts"
import * as Featured from "./Featured.ts"
import * as Filters from "./Filters.ts"
import * as HiddenPeople from "./HiddenPeople.ts"
import * as Interactions from "./Interactions.ts"
import * as MovingPages from "./MovingPages.ts"
import * as Notifications from "./Notifications.ts"
import * as PasskeyPage from "./PasskeyPage.ts"
import * as Posting from "./Posting.ts"
import * as Privacy from "./Privacy.ts"
import * as Profile from "./Profile.ts"
import * as Reading from "./Reading.ts"
import * as Relationships from "./Relationships.ts"
import * as SessionPage from "./SessionPage.ts"
import * as SettingsList from "./SettingsList.ts"

/** Settings of members. */
export const layer = Layer.mergeAll(
  AccountPage.layer,
  Cleanup.layer,
  DeletionPage.layer,
  DomainBlocks.layer,
  Emails.layer,
  Featured.layer,
  Filters.layer,
  HiddenPeople.layer,
  Interactions.layer,
  MovingPages.layer,
  Notifications.layer,
  PasskeyPage.layer,
  Posting.layer,
  Privacy.layer,
  Profile.layer,
  Reading.layer,
  Relationships.layer,
  SessionPage.layer,
  SettingsList.layer,
  // Mastodon's address of the page.
  HttpRouter.add("GET", "/auth/edit", redirect(accountPath))
).pipe(Layer.provide(Forms.layer), Layer.provide(Visitors.layer))
