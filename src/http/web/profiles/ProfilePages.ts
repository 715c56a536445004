import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { RemoteProfiles } from "../../../services/federation/fetching/RemoteProfiles.ts"
import { lineOfHtml } from "../../../services/html/TextLine.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { isValid } from "../../../services/identity/Usernames.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { Relationships } from "../../../services/social/Relationships.ts"
import { AccountStatuses } from "../../../services/statuses/AccountStatuses.ts"
import { ActorDocuments } from "../../activitypub/ActorDocuments.ts"
import { byType } from "../../activitypub/DocumentResponse.ts"
import { type Html, html } from "../../html/Html.ts"
import { subscribingPath } from "../../html/PagePaths.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { FeaturedTagViews } from "../../render/FeaturedTagViews.ts"
import { allShown, filled, singleEnds } from "../../render/FilledPages.ts"
import { statusRows } from "../../render/PageSizes.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import { followScripts } from "../account/FollowForm.ts"
import { feedLinks } from "../feeds/Formats.ts"
import { atFeed } from "../feeds/OtherPaths.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { foreignLink } from "../shell/ForeignLink.ts"
import { tabsOf } from "../shell/Tabs.ts"
import type { View, Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { feedOf } from "../status/ArticleFeed.ts"
import { jsonLd, profilePage, relMe } from "../status/LinkedData.ts"
import { plainName, profilePath, type ShownAccount } from "../status/StatusText.ts"
import { descriptionCharactersMax } from "../threads/PreviewTags.ts"
import { headOf } from "./Head.ts"

/** Tabs of a profile, by the last part of their path. */
const tabs = {
  "": { excludeReplies: true, excludeReblogs: false, onlyMedia: false },
  "with_replies": { excludeReplies: false, excludeReblogs: false, onlyMedia: false },
  media: { excludeReplies: false, excludeReblogs: true, onlyMedia: true }
} as const

type Tab = keyof typeof tabs

const tabLinks = (visit: Visit, { acct }: ShownAccount): Html => {
  const { say } = visit.reader.words
  const path = profilePath(acct)
  return tabsOf(visit, say("Profile"), [
    [path, say("Posts")],
    [`${path}/with_replies`, say("Posts and replies")],
    [`${path}/media`, say("Media")]
  ])
}

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const actors = yield* ActorDocuments
  const config = yield* ServerConfig
  const featured = yield* FeaturedTagViews
  const pages = yield* WebPages
  const published = yield* AccountStatuses
  const relationships = yield* Relationships
  const remote = yield* RemoteProfiles
  const statuses = yield* StatusViews
  const views = yield* AccountViews

  /** Renders the profile with one of its tabs, or with the posts that have a hashtag. */
  const show = (tab: Tab | undefined) =>
    pages.anyone(
      Effect.fnUntraced(function*(visit) {
        const { params, reader: { words: { pieces, say } }, viewer } = visit
        const { name = "", tag } = params
        const isLocal = !name.includes("@")
        // Visitors read accounts of other servers there.
        if (isLocal ? !isValid(name) : viewer === undefined) return yield* new RecordNotFound()
        const id = yield* accounts.lookup(name)
        if (viewer !== undefined) yield* remote.read(id)
        const account = read(yield* views.renderOne(id))
        const selection = { ...tabs[tab ?? ""], excludeDirect: viewer !== id, tagged: tag }
        const page = pageOf(visit, statusRows)
        const { items, read: cursors } = yield* filled({
          page,
          hides: statuses.hides(viewer),
          unhidden: (ids) => statuses.unhidden(viewer, ids, "account"),
          ends: singleEnds,
          read: (page) => Effect.map(published.page(viewer, id, selection, page), allShown),
          show: (ids) => statuses.render(viewer, ids, "permitted", "account")
        })
        const isFirst = page.maxId === undefined && page.minId === undefined
        const pinned = tab === "" && isFirst
          ? yield* statuses.render(viewer, yield* published.pinned(viewer, id), "permitted", "account")
          : []
        const [relationship] = viewer === undefined || viewer === id ? [] : yield* relationships.of(viewer, [id])
        const tags = (yield* featured.of(id)).map((one) => read(one))
        const handle = isLocal ? `@${account.username}@${config.localDomain}` : `@${account.acct}`
        const title = plainName(account)
        const address = Urls.profile(config, account.username)
        const about = lineOfHtml(account.note, descriptionCharactersMax)
        const view: View = {
          title,
          hiddenTitle: true,
          scripts: followScripts(visit),
          indexable: isLocal && account.indexable && account.noindex !== true,
          head: isLocal
            ? html`<link rel="canonical" href="${address}">
<meta property="og:type" content="profile">
<meta property="og:url" content="${address}">
<meta property="og:title" content="${title} (${handle})">
<meta property="og:image" content="${account.avatarStatic}">
<meta property="og:description" content="${about}">
<meta name="description" content="${about}">
<meta property="profile:username" content="${handle.slice(1)}">
${account.fields.map(({ value, verifiedAt }) => relMe(value, verifiedAt))}
${jsonLd(profilePage({ address, account, about }))}
${feedLinks(profilePath(account.acct), title)}`
            : html``,
          body: html`${headOf(visit, { account, federated: config.federated, handle, relationship, tags })}${
            config.emailSubscriptions && account.emailSubscriptions === true && isLocal
              ? html`<p><a href="${visit.reader.way(subscribingPath(account.username))}">${
                say("Posts by email")
              }</a></p>`
              : ""
          }${tabLinks(visit, account)}${
            pinned.length === 0 ? "" : html`<h2>${say("Pinned")}</h2>${yield* feedOf(visit, say("Pinned"), pinned)}`
          }<h2>${
            tag === undefined ? say("Posts") : pieces("Posts tagged {tag}", { tag: html`<bdi>#${tag}</bdi>` })
          }</h2>${
            items.length === 0
              ? html`<p class="soft empty">${say("There are no public posts yet.")}</p>`
              : yield* feedOf(visit, say("Posts"), items)
          }${pagingLinks(visit, page, cursors)}${
            isLocal
              ? ""
              : html`<p class="soft">${say("Older posts may be missing here.")} ${
                foreignLink(account.url, say("Open the original page"))
              }</p>`
          }`
        }
        return view
      }),
      Effect.succeed(config.limitedFederation)
    )

  const document = Effect.flatMap(HttpRouter.params, ({ name = "" }) => actors.respond(name))
  return Layer.mergeAll(
    HttpRouter.add("GET", "/@:name", atFeed("/@", byType(document, show("")))),
    HttpRouter.add("GET", "/@:name/with_replies", show("with_replies")),
    HttpRouter.add("GET", "/@:name/media", show("media")),
    HttpRouter.add("GET", "/@:name/tagged/:tag", show(undefined))
  )
})

/** `/@name`: an account and its posts; serves the account's document if `Accept` asks for it. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([AccountViews.layer, FeaturedTagViews.layer, StatusViews.layer])
)
