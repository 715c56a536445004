import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { AccountId } from "../../../services/database/Ids.ts"
import { Unprocessable } from "../../../services/runtime/Errors.ts"
import { FollowLists } from "../../../services/social/FollowLists.ts"
import { html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import * as Lists from "../../render/ListResponses.ts"
import { accountRows } from "../../render/PageSizes.ts"
import { accountRow } from "../account/AccountRow.ts"
import * as People from "../account/People.ts"
import { requestActs } from "../account/RequestActs.ts"
import { bulkForm, bulkMark } from "../shell/BulkForm.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { WebPages } from "../shell/WebPages.ts"

const actPath = "/web/follow_requests"

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const lists = yield* FollowLists
  const pages = yield* WebPages
  const people = yield* People.make

  const list = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const page = pageOf(visit, accountRows)
    const rows = yield* lists.requests(visit.viewer, page)
    const shown = yield* people.load(visit, rows.map(({ accountId }) => accountId))
    return {
      title: say("Follow requests"),
      body: html`${
        shown.length === 0
          ? html`<p class="soft empty">${say("No requests.")}</p>`
          : html`${
            bulkForm(visit, actPath, [["authorize", say("Accept selected")], ["reject", say("Reject selected")]])
          }${
            People.listOf(shown.map(({ account }) =>
              accountRow(visit, account, {
                before: bulkMark(account.id, say("Select {account}", { account: `@${account.acct}` })),
                acts: requestActs(visit, account)
              })
            ))
          }`
      }${pagingLinks(visit, page, rows.map(({ cursor }) => cursor))}`
    }
  }))

  const act = pages.act(Effect.fnUntraced(function*(visit, form) {
    const asked = form.get("act")
    if (asked !== "authorize" && asked !== "reject") {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    const _tag = asked === "authorize" ? "AuthorizeFollow" : "RejectFollow"
    const chosen = Lists.idsOf(form.getAll("id")).slice(0, accountRows).map((id) => AccountId.make(id))
    // A request may have been withdrawn since the page was shown.
    yield* Effect.forEach(
      chosen,
      (target) => Effect.catchTag(actors.tell(visit.viewer, { _tag, target }), "RecordNotFound", () => Effect.void),
      {
        discard: true
      }
    )
    return {}
  }))

  return Layer.merge(HttpRouter.add("GET", "/follow_requests", list), HttpRouter.add("POST", actPath, act))
})

/** Requests to follow the member, to be accepted or rejected. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AccountViews.layer))
