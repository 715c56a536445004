import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { collection } from "../../../services/federation/documents/PagedCollection.ts"
import { TimelineAccess } from "../../../services/feeds/TimelineAccess.ts"
import { Timelines } from "../../../services/feeds/Timelines.ts"
import { normalise } from "../../../services/html/HashtagNames.ts"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { Tags } from "../../../services/statuses/Tags.ts"
import { bounded } from "../../../services/text/BoundedText.ts"
import { Admission } from "../../activitypub/Admission.ts"
import { byType, document, refused } from "../../activitypub/DocumentResponse.ts"
import { Requesters } from "../../activitypub/Requesters.ts"
import { html } from "../../html/Html.ts"
import { statusRows } from "../../render/PageSizes.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { TagViews } from "../../render/TagViews.ts"
import * as TimelineViews from "../../render/TimelineViews.ts"
import { read as readValues } from "../../wire/Keys.ts"
import { feedLinks } from "../feeds/Formats.ts"
import { atFeed } from "../feeds/OtherPaths.ts"
import { tagFollowForm } from "../followed/FollowedTags.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { WebPages } from "../shell/WebPages.ts"
import { feedOf } from "../status/ArticleFeed.ts"
import { closedTags, tagSelection } from "./Selection.ts"

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const access = yield* TimelineAccess
  const policies = yield* InstancePolicies
  const { admit } = yield* Admission
  const requesters = yield* Requesters
  const pages = yield* WebPages
  const tags = yield* Tags
  const tagViews = yield* TagViews
  const timelines = yield* Timelines
  const { everybody } = yield* TimelineViews.make

  /** Serves the hashtag to other servers, without listing its posts. */
  const named = Effect.gen(function*() {
    const { name = "" } = yield* HttpRouter.params
    const { scope } = yield* requesters.current
    const tag = yield* tags.find(name)
    return yield* document(collection("OrderedCollection", Urls.tag(config, normalise(bounded(tag.name))), {}), scope)
  }).pipe(Effect.catch(refused))

  const page = pages.anyone(
    Effect.fnUntraced(function*(visit) {
      const { words: { say } } = visit.reader
      const tag = yield* tags.find(visit.params["name"] ?? "").pipe(Effect.mapError(() => new RecordNotFound()))
      const selection = yield* access.narrow(visit.viewer, "hashtagFeeds", tagSelection(tag.name))
      const page = pageOf(visit, statusRows)
      const { items, read } = selection === undefined
        ? { items: [], read: [] }
        : yield* everybody(visit.viewer, page, (page) => timelines.tagged(visit.viewer, selection, page))
      const title = `#${tag.name}`
      const follow = visit.viewer === undefined
        ? html``
        : tagFollowForm(visit, readValues(yield* tagViews.of(visit.viewer, tag)))
      return {
        title,
        head: html`<link rel="canonical" href="${Urls.tag(config, tag.name)}">
${feedLinks(`/tags/${encodeURIComponent(tag.name)}`, title)}`,
        live: String(new URLSearchParams([["channel", "hashtag"], ["tag", tag.name]])),
        body: html`<div class="tools">${follow}</div>${
          items.length === 0
            ? html`<p class="soft empty">${say("There are no public posts with this hashtag.")}</p>`
            : yield* feedOf(visit, title, items)
        }${pagingLinks(visit, page, read)}`
      }
    }),
    closedTags(policies)
  )
  return HttpRouter.add("GET", "/tags/:name", atFeed("/tags/", byType(admit("documents", named), page)))
})

/** `/tags/name`: the newest public posts with a hashtag. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([StatusViews.layer, TagViews.layer]))
