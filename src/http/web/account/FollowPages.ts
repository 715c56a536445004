import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { Page } from "../../../services/database/Paging.ts"
import { Accounts, type FoundAccount } from "../../../services/identity/Accounts.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { FollowLists } from "../../../services/social/FollowLists.ts"
import type { Listed } from "../../../services/statuses/Interactions.ts"
import type { Viewer } from "../../../services/visibility/Viewer.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { accountRows } from "../../render/PageSizes.ts"
import { read } from "../../wire/Keys.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { tabsOf } from "../shell/Tabs.ts"
import type { Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { plainName, profilePath, type ShownAccount } from "../status/StatusText.ts"
import { followScripts } from "./FollowForm.ts"
import * as People from "./People.ts"

const tabs = (visit: Visit, { acct }: ShownAccount): Html => {
  const { words: { say } } = visit.reader
  return tabsOf(visit, say("Follows"), [
    [profilePath(acct), say("Profile")],
    [`${profilePath(acct)}/followers`, say("Followers")],
    [`${profilePath(acct)}/following`, say("Following")]
  ])
}

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const config = yield* ServerConfig
  const lists = yield* FollowLists
  const pages = yield* WebPages
  const people = yield* People.make
  const views = yield* AccountViews

  const listPage = (
    titleOf: (visit: Visit, name: string) => string,
    readPage: (viewer: Viewer, of: FoundAccount, page: Page) => Effect.Effect<ReadonlyArray<Listed>>
  ) =>
    pages.anyone(
      Effect.fnUntraced(function*(visit) {
        const { words: { say } } = visit.reader
        const of = yield* accounts.find(yield* accounts.lookup(visit.params["name"] ?? ""))
        const account = read(yield* views.renderOne(of.id))
        // As on profiles: visitors read about the accounts of this server only.
        if (visit.viewer === undefined && account.acct.includes("@")) return yield* new RecordNotFound()
        const page = pageOf(visit, accountRows)
        const rows = yield* readPage(visit.viewer, of, page)
        const shown = yield* people.load(visit, rows.map(({ accountId }) => accountId))
        const isHidden = of.hideCollections && of.id !== visit.viewer
        return {
          title: titleOf(visit, plainName(account)),
          scripts: followScripts(visit),
          body: html`${tabs(visit, account)}${
            People.peopleOf(
              visit,
              shown,
              isHidden ? say("This account does not show its follows and followers.") : say("Nobody here yet.")
            )
          }${pagingLinks(visit, page, rows.map(({ cursor }) => cursor))}${
            account.acct.includes("@")
              ? html`<p class="soft">${say("Followers from other servers may be missing here.")}</p>`
              : ""
          }`
        }
      }),
      Effect.succeed(config.limitedFederation)
    )

  return Layer.mergeAll(
    HttpRouter.add(
      "GET",
      "/@:name/followers",
      listPage(
        ({ reader: { words: { say } } }, name) => say("Followers of {name}", { name }),
        lists.followers
      )
    ),
    HttpRouter.add(
      "GET",
      "/@:name/following",
      listPage(
        ({ reader: { words: { say } } }, name) => say("Followed by {name}", { name }),
        lists.following
      )
    )
  )
})

/** Followers of an account, and the accounts that it follows. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AccountViews.layer))
