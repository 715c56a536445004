import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { Suggestions } from "../../../services/suggestions/Suggestions.ts"
import { Trends } from "../../../services/trends/Trends.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { LinkViews } from "../../render/LinkViews.ts"
import { statusRows } from "../../render/PageSizes.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { TagViews } from "../../render/TagViews.ts"
import { read, type Values } from "../../wire/Keys.ts"
import type { TrendingLink } from "../../wire/PreviewCard.ts"
import { accountRow } from "../account/AccountRow.ts"
import { accountActPath, followScripts } from "../account/FollowForm.ts"
import * as People from "../account/People.ts"
import { tagEntry } from "../followed/FollowedTags.ts"
import { actForm } from "../shell/ActForm.ts"
import { offsetLinks, offsetOf } from "../shell/OffsetPaging.ts"
import { searchForm } from "../shell/SearchForm.ts"
import { tabsOf } from "../shell/Tabs.ts"
import type { MemberVisit, View, Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { feedOf } from "../status/ArticleFeed.ts"
import { previewOf } from "../status/StatusCard.ts"

/** Rows of a page of hashtags, links or people. */
const exploreRows = 20

const head = (visit: Visit): Html => {
  const { say } = visit.reader.words
  return html`${searchForm(visit, "/search", say("Search or paste an address"))}${
    tabsOf(visit, say("Explore"), [
      ["/explore", say("Posts")],
      ["/explore/tags", say("Hashtags")],
      ["/explore/links", say("News")],
      ...visit.viewer === undefined ? [] : [["/explore/suggestions", say("People")] as const]
    ])
  }`
}

const empty = (text: string): Html => html`<p class="soft empty">${text}</p>`

const linkEntry = ({ reader: { words: { say } } }: Visit, link: Values<TrendingLink>): Html => {
  const count = link.history.slice(0, 2).reduce((sum, { accounts }) => sum + Number(accounts), 0)
  return html`<li class="entry"><div>${previewOf(link)}${
    count === 0 ?
      "" :
      html`<p class="soft">${
        say("{count, plural, one {# person} other {# people}} in the past two days", { count })
      }</p>`
  }</div></li>`
}

const suggestionRow = (
  visit: MemberVisit,
  { account, relationship }: People.Person,
  sources: ReadonlyArray<string>
): Html => {
  const { say } = visit.reader.words
  const reason = sources.includes("friends_of_friends")
    ? say("Followed by people you follow")
    : sources.length === 0
    ? say("You interacted with this account")
    : say("Popular on this server")
  return accountRow(visit, account, {
    relationship,
    below: html`<p class="soft bio">${reason}</p>`,
    acts: actForm(
      visit,
      accountActPath(account.id),
      html`<button type="submit" name="act" value="dismissSuggestion" class="plain">${
        say("Dismiss")
      }<span class="unseen"> @${account.acct}</span></button>`
    )
  })
}

const make = Effect.gen(function*() {
  const links = yield* LinkViews
  const pages = yield* WebPages
  const people = yield* People.make
  const policies = yield* InstancePolicies
  const statuses = yield* StatusViews
  const suggestions = yield* Suggestions
  const tags = yield* TagViews
  const trends = yield* Trends

  const closed = Effect.map(policies.current, ({ timelinesAccess: { liveFeeds } }) => liveFeeds.local !== "public")
  const wishesOf = ({ query, session }: Visit) =>
    Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => ({
      lang: query.get("lang") ?? undefined,
      locale: session?.locale,
      header: headers["accept-language"]
    }))
  const viewOf = (visit: Visit, body: Html): View => ({
    title: visit.reader.words.say("Explore"),
    scripts: followScripts(visit),
    body: html`${head(visit)}${body}`
  })

  const posts = pages.anyone(
    Effect.fnUntraced(function*(visit) {
      const { words: { say } } = visit.reader
      const stretch = offsetOf(visit, statusRows)
      const ids = yield* trends.statuses(visit.viewer, yield* wishesOf(visit), stretch)
      const items = yield* statuses.render(visit.viewer, ids, "permitted", "public")
      return viewOf(
        visit,
        html`${
          items.length === 0
            ? empty(say("Nothing is popular yet. Posts appear here when many people favourite or boost them."))
            : yield* feedOf(visit, say("Explore"), items)
        }${offsetLinks(visit, stretch, ids.length)}`
      )
    }),
    closed
  )

  const tagPage = pages.anyone(
    Effect.fnUntraced(function*(visit) {
      const stretch = offsetOf(visit, exploreRows)
      const ids = yield* trends.tags(stretch)
      const items = yield* tags.render(visit.viewer, ids)
      return viewOf(
        visit,
        html`${
          items.length === 0
            ? empty(visit.reader.words.say("No hashtags are popular yet."))
            : html`<ul class="entries">${items.map((item) => tagEntry(visit, read(item)))}</ul>`
        }${offsetLinks(visit, stretch, ids.length)}`
      )
    }),
    closed
  )

  const linkPage = pages.anyone(
    Effect.fnUntraced(function*(visit) {
      const stretch = offsetOf(visit, exploreRows)
      const ids = yield* trends.links(visit.viewer, yield* wishesOf(visit), stretch)
      const items = yield* links.render(visit.viewer, ids)
      return viewOf(
        visit,
        html`${
          items.length === 0
            ? empty(visit.reader.words.say("No links are popular yet."))
            : html`<ul class="entries">${items.map((item) => linkEntry(visit, read(item)))}</ul>`
        }${offsetLinks(visit, stretch, ids.length)}`
      )
    }),
    closed
  )

  const suggested = pages.member(Effect.fnUntraced(function*(visit) {
    const stretch = offsetOf(visit, exploreRows)
    const found = yield* suggestions.all(visit.viewer, stretch)
    const known = yield* people.byId(visit, found.map(({ accountId }) => accountId))
    const rows = found.flatMap(({ accountId, sources }) => {
      const person = known.get(accountId)
      return person === undefined ? [] : [suggestionRow(visit, person, sources)]
    })
    return viewOf(
      visit,
      html`${
        rows.length === 0
          ? empty(visit.reader.words.say("No suggestions yet. They come from the people you follow."))
          : People.listOf(rows)
      }${offsetLinks(visit, stretch, found.length)}`
    )
  }))

  return Layer.mergeAll(
    HttpRouter.add("GET", "/explore", posts),
    HttpRouter.add("GET", "/explore/tags", tagPage),
    HttpRouter.add("GET", "/explore/links", linkPage),
    HttpRouter.add("GET", "/explore/suggestions", suggested)
  )
})

/** Popular posts, hashtags and links, and people to follow. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([AccountViews.layer, LinkViews.layer, StatusViews.layer, TagViews.layer])
)
