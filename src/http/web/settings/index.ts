import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { redirect } from "../../html/HtmlPage.ts"
import { accountPath } from "../../html/PagePaths.ts"
import * as AccountPage from "./AccountPage.ts"
import * as DeletionPage from "./DeletionPage.ts"
import * as MovingPages from "./MovingPages.ts"
import * as PasskeyPage from "./PasskeyPage.ts"
import * as SessionPage from "./SessionPage.ts"

/** Pages on which members manage their account. */
export const layer = Layer.mergeAll(
  AccountPage.layer,
  DeletionPage.layer,
  MovingPages.layer,
  PasskeyPage.layer,
  SessionPage.layer,
  // Mastodon's address of the page.
  HttpRouter.add("GET", "/auth/edit", redirect(accountPath))
)
