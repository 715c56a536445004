import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { collection } from "../../services/federation/documents/Collections.ts"
import { TimelineAccess } from "../../services/feeds/TimelineAccess.ts"
import { Timelines } from "../../services/feeds/Timelines.ts"
import { normalise } from "../../services/html/HashtagNames.ts"
import { InstancePolicies } from "../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { Tags } from "../../services/statuses/Tags.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { Admission } from "../activitypub/Admission.ts"
import { byType, document, refused } from "../activitypub/DocumentResponse.ts"
import { Requesters } from "../activitypub/Requesters.ts"
import { parameters } from "../html/Forms.ts"
import { html } from "../html/Html.ts"
import { Visitors } from "../html/Visitors.ts"
import { statusRows } from "../render/PageSizes.ts"
import { cursorOf, older } from "./OlderLink.ts"
import { list, Posts } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const access = yield* TimelineAccess
  const policies = yield* InstancePolicies
  const visitors = yield* Visitors
  const { admit } = yield* Admission
  const requesters = yield* Requesters
  const pages = yield* PublicPages
  const posts = yield* Posts
  const tags = yield* Tags
  const timelines = yield* Timelines

  /** Serves the hashtag to other servers, without listing its posts. */
  const named = Effect.gen(function*() {
    const { name = "" } = yield* HttpRouter.params
    const { scope } = yield* requesters.current
    const tag = yield* tags.find(name)
    return yield* document(collection("OrderedCollection", Urls.tag(config, normalise(bounded(tag.name))), {}), scope)
  }).pipe(Effect.catch(refused))

  const page = Effect.gen(function*() {
    const { name = "" } = yield* HttpRouter.params
    const tag = yield* tags.find(name)
    const { session } = yield* visitors.current
    const selection = yield* access.narrow(session?.accountId, "hashtagFeeds", {
      name: tag.name,
      any: [],
      all: [],
      none: [],
      local: false,
      remote: false,
      onlyMedia: false
    })
    const maxId = cursorOf((yield* parameters).get("max_id"))
    // Shows only public posts, whoever the visitor is; viewer-specific filters apply in apps.
    const ids = selection === undefined
      ? []
      : yield* timelines.tagged(undefined, selection, { maxId, limit: statusRows })
    const last = ids.length === statusRows ? ids.at(-1) : undefined
    const reader = yield* pages.reader
    const { words } = reader
    const shown = yield* posts.show(words, ids)
    return pages.respond({
      words,
      title: `#${tag.name}`,
      body: html`
${
        shown.length === 0
          ? html`<p class="soft">${words.say("There are no public posts with this hashtag.")}</p>`
          : list(shown)
      }
${older(reader, last)}`
    })
  }).pipe(Effect.catchTags({ RecordNotFound: () => pages.notFound, Unprocessable: () => pages.notFound }))

  const shown = Effect.flatMap(
    policies.current,
    ({ timelinesAccess: { hashtagFeeds: { local, remote } } }) =>
      pages.guarded(local !== "public" || remote !== "public", page)
  )
  return HttpRouter.add("GET", "/tags/:name", byType(admit("documents", named), shown))
})

/** `/tags/name`: the newest public posts with a hashtag, if strangers may read public timelines. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Visitors.layer))
