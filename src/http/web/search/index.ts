import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { isUrl } from "../../../services/discovery/LocalUrls.ts"
import { parseHandle } from "../../../services/federation/DomainNames.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Limits } from "../../guard/Limits.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { Visitors } from "../../html/Visitors.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { statusRows } from "../../render/PageSizes.ts"
import { type FoundIds, SearchViews } from "../../render/SearchViews.ts"
import * as FoundResults from "../../v1/FoundResults.ts"
import { type JsonOf, read } from "../../wire/Keys.ts"
import type { Search } from "../../wire/Search.ts"
import { followScripts } from "../account/FollowForm.ts"
import * as People from "../account/People.ts"
import { tagEntry } from "../followed/FollowedTags.ts"
import { foreignLink } from "../shell/ForeignLink.ts"
import { offsetLinks, offsetOf } from "../shell/OffsetPaging.ts"
import { searchForm } from "../shell/SearchForm.ts"
import { tabsOf } from "../shell/Tabs.ts"
import type { View, Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { articlesOf } from "../status/ArticleFeed.ts"
import { profilePath, statusPath } from "../status/StatusText.ts"

/** Kinds of results that have a tab. */
const types = ["accounts", "statuses", "hashtags"] as const
const typeOf = (query: URLSearchParams) => types.find((type) => type === query.get("type"))

/** Maximum characters of a search text; the rest is ignored. */
const textCharactersMax = 500
const textOf = (query: URLSearchParams) => (query.get("q") ?? "").trim().slice(0, textCharactersMax)

const help = ({ reader: { words: { say } } }: Visit): Html => {
  const rows = [
    [`"${say("good morning")}"`, say("Exactly these words")],
    ["-coffee", say("Without this word")],
    ["from:me", say("Your own posts; from:@name finds another person's")],
    ["has:image", say("Posts with pictures; also video, audio, media, poll, link, embed")],
    ["is:reply", say("Replies; also sensitive, quote")],
    ["language:en", say("Posts in a language")],
    ["before:2026-01-31", say("Posts before a day; also after and during")],
    ["in:library", say("Posts that you wrote, favourited, boosted, bookmarked or were mentioned in")]
  ]
  return html`<details><summary>${say("Search operators")}</summary><dl>${
    rows.map(([operator, meaning]) => html`<dt><code>${operator}</code></dt><dd>${meaning}</dd>`)
  }</dl></details>`
}

const tabs = (visit: Visit, text: string): Html => {
  const { say } = visit.reader.words
  const to = (type?: string) => `/search?${new URLSearchParams({ q: text, ...(type !== undefined && { type }) })}`
  return tabsOf(visit, say("Search results"), [
    [to(), say("All")],
    [to("accounts"), say("People")],
    [to("statuses"), say("Posts")],
    [to("hashtags"), say("Hashtags")]
  ])
}

/** Returns the page of this server of a result that is the only one; undefined if there are several or none. */
const onlyResult = (json: JsonOf<Search>): string | undefined => {
  const { accounts, statuses } = read(json)
  const [account, status] = [accounts[0], statuses[0]]
  if (accounts.length + statuses.length !== 1) return undefined
  return account === undefined ? status && statusPath(status) : profilePath(account.acct)
}

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const limits = yield* Limits
  const pages = yield* WebPages
  const people = yield* People.make
  const views = yield* SearchViews
  const visitors = yield* Visitors
  const { byWords, resolved } = yield* FoundResults.make

  const results = Effect.fnUntraced(function*(visit: Visit, json: JsonOf<Search>) {
    const { words: { say } } = visit.reader
    const { accounts, collections, hashtags, statuses } = read(json)
    const shown = yield* people.load(visit, accounts.map(({ id }) => BigInt(id)))
    const heading = (text: string) => typeOf(visit.query) === undefined ? html`<h2>${text}</h2>` : ""
    const count = accounts.length + collections.length + hashtags.length + statuses.length
    return html`${count === 0 ? html`<p class="soft empty">${say("Nothing found.")}</p>` : ""}${
      shown.length === 0 ? "" : html`${heading(say("People"))}${People.peopleOf(visit, shown, "")}`
    }${
      hashtags.length === 0 ?
        "" :
        html`${heading(say("Hashtags"))}<ul class="entries">${hashtags.map((tag) => tagEntry(visit, tag))}</ul>`
    }${
      collections.length === 0 ?
        "" :
        html`${heading(say("Collections"))}<ul class="entries">${
          collections.map(({ name, url }) => html`<li class="entry">${foreignLink(url, name)}</li>`)
        }</ul>`
    }${
      statuses.length === 0
        ? ""
        : html`${heading(say("Posts"))}${yield* articlesOf(visit, say("Posts"), statuses)}`
    }`
  })

  const show = (found: FoundIds | undefined) =>
    Effect.fnUntraced(function*(visit: Visit) {
      const { words: { say } } = visit.reader
      const [text, type] = [textOf(visit.query), typeOf(visit.query)]
      const form = searchForm(
        visit,
        "/search",
        say("Search or paste an address"),
        type === undefined ? html`` : hidden("type", type)
      )
      const view: View = { title: say("Search"), body: html`${form}${help(visit)}` }
      if (text === "") return view
      const stretch = offsetOf(visit, statusRows)
      const page = { ...stretch, ...(type !== undefined && { type }) }
      const json = yield* views.render(visit.viewer, found ?? (yield* byWords(visit.viewer, text, page)))
      const only = found === undefined ? undefined : onlyResult(json)
      if (only !== undefined) return redirect(visit.reader.way(only))
      const { accounts, hashtags, statuses } = read(json)
      return {
        ...view,
        scripts: followScripts(visit),
        body: html`${form}${help(visit)}${tabs(visit, text)}${
          visit.viewer === undefined
            ? html`<p class="soft">${say("Sign in to search posts and accounts of other servers.")}</p>`
            : ""
        }${yield* results(visit, json)}${
          type === undefined
            ? ""
            : offsetLinks(visit, stretch, Math.max(accounts.length, hashtags.length, statuses.length))
        }`
      }
    })

  /**
   * Resolves an address or handle for members, before the page takes a slot of the expensive reads: another server may
   * be slow. Spends the member's limit, as in the API; beyond it the search finds known accounts and posts only.
   */
  const resolve = Effect.gen(function*() {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const query = new URLSearchParams(url.split("?")[1] ?? "")
    const text = textOf(query)
    if (!isUrl(text) && parseHandle(text) === undefined) return undefined
    const { session } = yield* visitors.current
    if (session === undefined) return undefined
    yield* limits.spend([{ limit: "apiUser", key: String(session.accountId) }])
    const type = typeOf(query)
    return yield* resolved(session.accountId, text, { resolve: true, ...(type !== undefined && { type }) })
  }).pipe(Effect.catchTag("TooManyRequests", () => Effect.undefined))

  return HttpRouter.add(
    "GET",
    "/search",
    Effect.flatMap(resolve, (found) => pages.anyone(show(found), Effect.succeed(config.limitedFederation)))
  )
})

/** Search for people, posts and hashtags. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([AccountViews.layer, SearchViews.layer, Visitors.layer])
)
