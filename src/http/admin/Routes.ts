import { Layer } from "effect"
import { AdminAccounts } from "../../services/moderation/AdminAccounts.ts"
import { AdminReports } from "../../services/moderation/AdminReports.ts"
import { Appeals } from "../../services/moderation/Appeals.ts"
import { Strikes } from "../../services/moderation/Strikes.ts"
import { Forms } from "../html/Forms.ts"
import { Visitors } from "../html/Visitors.ts"
import { AccountDecisions } from "./AccountDecisions.ts"
import * as AccountPage from "./AccountPage.ts"
import * as Accounts from "./Accounts.ts"
import * as AppealPages from "./Appeals.ts"
import * as Dashboard from "./Dashboard.ts"
import { NoteList } from "./parts/NoteList.ts"
import { People } from "./parts/People.ts"
import * as ReportPage from "./ReportPage.ts"
import * as Reports from "./Reports.ts"
import { StaffPages } from "./StaffPages.ts"
import * as StaffStyle from "./StaffStyle.ts"

/** What several pages read by. */
const reads = Layer.mergeAll(
  AccountDecisions.layer,
  AdminAccounts.layer,
  AdminReports.layer,
  Appeals.layer,
  NoteList.layer,
  People.layer,
  Strikes.layer
)

/** The staff area: every page under /admin. */
export const layer = Layer.mergeAll(
  AccountPage.layer,
  Accounts.layer,
  AppealPages.layer,
  Dashboard.layer,
  ReportPage.layer,
  Reports.layer,
  StaffStyle.layer
).pipe(Layer.provide([reads, StaffPages.layer]), Layer.provide(Forms.layer), Layer.provide(Visitors.layer))
