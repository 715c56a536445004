import { Layer } from "effect"
import { AdminAccounts } from "../../../services/moderation/AdminAccounts.ts"
import { AdminReports } from "../../../services/moderation/AdminReports.ts"
import { Appeals } from "../../../services/moderation/Appeals.ts"
import { Strikes } from "../../../services/moderation/Strikes.ts"
import { WarningPresets } from "../../../services/moderation/WarningPresets.ts"
import { Forms } from "../../html/Forms.ts"
import { Visitors } from "../../html/Visitors.ts"
import { AccountDecisions } from "./AccountDecisions.ts"
import * as Accounts from "./AccountList.ts"
import * as AccountPage from "./AccountPage.ts"
import * as AppealPages from "./AppealList.ts"
import * as Appearance from "./AppearancePage.ts"
import * as AuditLog from "./AuditLogPage.ts"
import * as BlockFiles from "./BlockFiles.ts"
import * as CanonicalEmailBlocks from "./CanonicalEmailBlockList.ts"
import * as Dashboard from "./Dashboard.ts"
import * as Documents from "./DocumentPage.ts"
import * as DomainAllows from "./DomainAllowList.ts"
import * as DomainBlocks from "./DomainBlockList.ts"
import * as EmailDomainBlocks from "./EmailDomainBlockList.ts"
import * as EmojiArchive from "./EmojiArchive.ts"
import * as CustomEmojis from "./EmojiList.ts"
import * as Instances from "./InstanceList.ts"
import * as IpBlocks from "./IpBlockList.ts"
import * as MeasurePages from "./MeasurePages.ts"
import * as NewEmoji from "./NewEmoji.ts"
import { AccountLines } from "./parts/AccountLines.ts"
import { NoteList } from "./parts/NoteList.ts"
import { UserControls } from "./parts/UserControls.ts"
import * as Relays from "./RelayList.ts"
import * as Reports from "./ReportList.ts"
import * as ReportPage from "./ReportPage.ts"
import * as Roles from "./RoleList.ts"
import * as RolePage from "./RolePage.ts"
import * as Rules from "./RuleList.ts"
import * as Settings from "./SettingsPage.ts"
import { StaffPages } from "./StaffPages.ts"
import * as StaffStyle from "./StaffStyle.ts"
import * as StorageBudgets from "./StorageBudgetPage.ts"
import * as Tags from "./TagList.ts"
import * as UsernameBlocks from "./UsernameBlockList.ts"

/** Services that several pages share. */
const reads = Layer.mergeAll(
  AccountDecisions.layer,
  AdminAccounts.layer,
  AdminReports.layer,
  Appeals.layer,
  NoteList.layer,
  AccountLines.layer,
  Strikes.layer,
  UserControls.layer,
  WarningPresets.layer
)

/** Pages for settings, as opposed to decisions about accounts. */
const settings = Layer.mergeAll(
  Appearance.layer,
  AuditLog.layer,
  BlockFiles.layer,
  CanonicalEmailBlocks.layer,
  CustomEmojis.layer,
  Documents.layer,
  DomainAllows.layer,
  DomainBlocks.layer,
  EmailDomainBlocks.layer,
  EmojiArchive.layer,
  Instances.layer,
  IpBlocks.layer,
  MeasurePages.layer,
  NewEmoji.layer,
  Relays.layer,
  RolePage.layer,
  Roles.layer,
  Rules.layer,
  Settings.layer,
  StorageBudgets.layer,
  Tags.layer,
  UsernameBlocks.layer
)

/** Provides what staff pages share, those of other folders included. */
export const provideShared = <E, R>(pages: Layer.Layer<never, E, R>) =>
  pages.pipe(Layer.provide([reads, StaffPages.layer]), Layer.provide(Forms.layer), Layer.provide(Visitors.layer))

/** Pages under /admin of this folder. */
export const layer = provideShared(Layer.mergeAll(
  AccountPage.layer,
  Accounts.layer,
  AppealPages.layer,
  Dashboard.layer,
  ReportPage.layer,
  Reports.layer,
  settings,
  StaffStyle.layer
))
