import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Forms } from "../../html/Forms.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { accountPath } from "../../html/PagePaths.ts"
import { Visitors } from "../../html/Visitors.ts"
import * as AccountSettings from "./AccountSettings.ts"
import * as CleanupSettings from "./CleanupSettings.ts"
import * as DeletionPage from "./DeletionPage.ts"
import * as DomainBlockPage from "./DomainBlockPage.ts"
import * as EmailSettings from "./EmailSettings.ts"
import * as FeaturedPage from "./FeaturedPage.ts"
import * as FilterPages from "./FilterPages.ts"
import * as HiddenPeople from "./HiddenPeople.ts"
import * as InteractionSettings from "./InteractionSettings.ts"
import * as MovingPages from "./MovingPages.ts"
import * as NotificationSettings from "./NotificationSettings.ts"
import * as PasskeyPage from "./PasskeyPage.ts"
import * as PostingSettings from "./PostingSettings.ts"
import * as PrivacySettings from "./PrivacySettings.ts"
import * as ProfileSettings from "./ProfileSettings.ts"
import * as ReadingSettings from "./ReadingSettings.ts"
import * as RelationshipPage from "./RelationshipPage.ts"
import * as SessionPage from "./SessionPage.ts"
import * as SettingsList from "./SettingsList.ts"

/** Settings of members. */
export const layer = Layer.mergeAll(
  AccountSettings.layer,
  CleanupSettings.layer,
  DeletionPage.layer,
  DomainBlockPage.layer,
  EmailSettings.layer,
  FeaturedPage.layer,
  FilterPages.layer,
  HiddenPeople.layer,
  InteractionSettings.layer,
  MovingPages.layer,
  NotificationSettings.layer,
  PasskeyPage.layer,
  PostingSettings.layer,
  PrivacySettings.layer,
  ProfileSettings.layer,
  ReadingSettings.layer,
  RelationshipPage.layer,
  SessionPage.layer,
  SettingsList.layer,
  // Mastodon's address of the page.
  HttpRouter.add("GET", "/auth/edit", redirect(accountPath))
).pipe(Layer.provide(Forms.layer), Layer.provide(Visitors.layer))
