import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { AccountId, parseId } from "../../../services/database/Ids.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { ListMembers } from "../../../services/social/ListMembers.ts"
import { OwnedLists } from "../../../services/social/OwnedLists.ts"
import {
  followOrders,
  type FollowSelection,
  followSides,
  followStates,
  SortedFollows
} from "../../../services/social/SortedFollows.ts"
import { html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { read } from "../../wire/Keys.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { plainName } from "../status/StatusText.ts"
import { choice, form, textField } from "./FormFields.ts"
import { personRow } from "./PersonRow.ts"
import * as SettingPages from "./SettingPages.ts"

const path = "/settings/relationships"
/** Accounts on a page, and pages at most. */
const rows = 40
const pagesMax = 250

/** Returns the value out of a list that a query names, or the default. */
const oneOf = <A extends string>(allowed: ReadonlyArray<A>, given: string | null, otherwise: A) =>
  allowed.find((one) => one === given) ?? otherwise

const selectionOf = ({ query }: MemberVisit): FollowSelection => ({
  side: oneOf(followSides, query.get("side"), "following"),
  order: oneOf(followOrders, query.get("order"), "newest"),
  state: oneOf(followStates, query.get("state"), "all"),
  search: query.get("q") ?? ""
})

const pageNumberOf = ({ query }: MemberVisit): number => {
  const number = Number.parseInt(query.get("page") ?? "1", 10)
  return Number.isNaN(number) ? 1 : Math.min(Math.max(number, 1), pagesMax)
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const follows = yield* SortedFollows
  const lists = yield* OwnedLists
  const members = yield* ListMembers
  const page = yield* SettingPages.make
  const views = yield* AccountViews

  const show = Effect.fnUntraced(function*(visit: MemberVisit) {
    const { way, words: { say }, words } = visit.reader
    const selection = selectionOf(visit)
    const number = pageNumberOf(visit)
    // One more row tells that there is a next page.
    const found = yield* follows.page(visit.viewer, selection, (number - 1) * rows, rows + 1)
    const people = (yield* views.render(found.slice(0, rows))).map(read)
    const owned = yield* lists.of(visit.viewer)
    const at = (other: number) => {
      const query = new URLSearchParams([...visit.query].filter(([key]) => key !== "page" && key !== "lang"))
      query.set("page", String(other))
      return way(`${path}?${query}`)
    }
    const isFollowers = selection.side === "followers"
    const toLists = isFollowers || owned.length === 0 ? html`` : html`${
      choice("list", say("List"), "", [
        ["", say("Choose a list")],
        ...owned.map(({ id, title }) => [String(id), title] as const)
      ])
    }<p><button type="submit" name="act" value="list" class="plain">${say("Add selected to the list")}</button></p>`
    const followBack = isFollowers
      ? html`<p><button type="submit" name="act" value="follow" class="plain">${say("Follow selected")}</button></p>`
      : ""
    return html`<form method="get" action="${way(path)}"><div class="two">${
      choice("side", say("Show"), selection.side, [
        ["following", say("People you follow")],
        ["followers", say("Your followers")],
        ["mutuals", say("Mutual follows")]
      ])
    }${
      choice("order", say("Order"), selection.order, [
        ["newest", say("Newest follow first")],
        ["oldest", say("Oldest follow first")],
        ["active", say("Last post first")]
      ])
    }${
      choice("state", say("Accounts"), selection.state, [
        ["all", say("All accounts")],
        ["dormant", say("Without a post for a month")],
        ["moved", say("Moved to another account")]
      ])
    }${textField("q", say("Name or handle"), selection.search, { type: "search", max: 200 })}</div>
<p class="row"><button type="submit" class="plain">${say("Show")}</button></p></form>
${
      people.length === 0 ? html`<p class="soft">${say("No accounts match.")}</p>` : form(
        visit,
        html`<ul class="people">${
          people.map((account) =>
            html`<li>${
              personRow(visit, account, {
                before: html`<input type="checkbox" name="ids[]" value="${account.id}" aria-label="${
                  say("Select {name}", { name: plainName(account) })
                }">`,
                below: html`${
                  account.lastStatusAt === null
                    ? ""
                    : html` <span class="soft">· ${
                      say("Last post on {day}", { day: words.day(new Date(account.lastStatusAt)) })
                    }</span>`
                }${account.moved === undefined ? "" : html` <span class="badge">${say("Moved")}</span>`}`
              })
            }</li>`
          )
        }</ul>${toLists}${followBack}`,
        isFollowers
          ? { act: "remove", button: say("Remove selected followers"), danger: true }
          : { act: "unfollow", button: say("Unfollow selected"), danger: true }
      )
    }
<nav class="paging" aria-label="${say("Pages")}">${
      number > 1 ? html`<a href="${at(number - 1)}" rel="prev">${say("Previous")}</a>` : ""
    }${
      found.length > rows && number < pagesMax ? html`<a href="${at(number + 1)}" rel="next">${say("Next")}</a>` : ""
    }</nav>`
  })

  const selected = Effect.fnUntraced(function*(sent: URLSearchParams) {
    const ids = [...new Set(sent.getAll("ids"))].slice(0, rows).flatMap((text) => parseId(text) ?? [])
    if (ids.length === 0) return yield* validationFailed("Accounts can't be blank")
    return ids.map((id) => AccountId.make(id))
  })

  const each = (tag: "Unfollow" | "RemoveFollower") =>
    Effect.fnUntraced(function*({ reader: { words }, viewer }: MemberVisit, sent: URLSearchParams) {
      const targets = yield* selected(sent)
      yield* Effect.forEach(targets, (target) => actors.tell(viewer, { _tag: tag, target }), { discard: true })
      const count = targets.length
      return {
        notice: tag === "Unfollow"
          ? words.say("{count, plural, one {You unfollowed # account.} other {You unfollowed # accounts.}}", { count })
          : words.say("{count, plural, one {You removed # follower.} other {You removed # followers.}}", { count })
      }
    })

  return page({
    path,
    title: ({ say }) => say("Follows and followers"),
    show,
    acts: {
      unfollow: each("Unfollow"),
      remove: each("RemoveFollower"),
      follow: Effect.fnUntraced(function*({ viewer }, sent) {
        yield* Effect.forEach(
          yield* selected(sent),
          (target) => actors.tell(viewer, { _tag: "Follow", target, reblogs: null, notify: null, languages: null }),
          { discard: true }
        )
      }),
      list: Effect.fnUntraced(function*({ reader: { words }, viewer }, sent) {
        const list = parseId(sent.get("list"))
        if (list === undefined) return yield* validationFailed("List can't be blank")
        const { title } = yield* lists.find(viewer, list)
        yield* members.addAccounts(viewer, list, yield* selected(sent))
        return { notice: words.say("The accounts were added to {list}.", { list: title }) }
      })
    }
  })
})

/** Follows and followers of the member: sorted, searched, and changed together. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AccountViews.layer))
