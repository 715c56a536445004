import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { Statuses } from "../../../services/statuses/Statuses.ts"
import { ImportOrigins } from "../../../services/transfers/archives/ImportOrigins.ts"
import { byType } from "../../activitypub/DocumentResponse.ts"
import { ObjectDocuments } from "../../activitypub/ObjectDocuments.ts"
import { html } from "../../html/Html.ts"
import { ContextViews } from "../../render/ContextViews.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import { interactPath } from "../remote/Paths.ts"
import type { View } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { articleOf } from "../status/Article.ts"
import { lineOfStatus, plainName, profilePath } from "../status/StatusText.ts"
import { previewTags } from "./PreviewTags.ts"
import { repliesMax, treeHtml } from "./Tree.ts"

/** Maximum ancestors on the page of a post; the nearest are shown. */
const ancestorsMax = 100
/** Maximum characters of a post in the title of its page. */
const titleCharactersMax = 60

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const contexts = yield* ContextViews
  const objects = yield* ObjectDocuments
  const origins = yield* ImportOrigins
  const pages = yield* WebPages
  const statuses = yield* Statuses
  const views = yield* StatusViews

  const page = pages.anyone(
    Effect.fnUntraced(function*(visit) {
      const { params, reader: { way, words: { say } }, viewer } = visit
      const id = parseId(params["id"])
      if (id === undefined) return yield* new RecordNotFound()
      const found = yield* statuses.find(viewer, id)
      const itself = read(yield* views.renderOne(viewer, found.id))
      const { account } = itself
      const isLocal = !account.acct.includes("@")
      // The address names the author, and visitors read posts of other servers there.
      if (
        `@${account.acct}`.toLowerCase() !== `@${params["name"] ?? ""}`.toLowerCase() ||
        viewer === undefined && !isLocal
      ) {
        return yield* new RecordNotFound()
      }
      const origin = found.imported ? yield* origins.find(found.id) : undefined
      const { ancestors, descendants } = read(yield* contexts.renderInSlot(viewer, found))
      const now = yield* Clock.currentTimeMillis
      const name = plainName(account)
      const view: View = {
        title: say("{account}: {text}", {
          account: name,
          text: lineOfStatus(itself, titleCharactersMax) || say("Post without text")
        }),
        hiddenTitle: true,
        indexable: account.indexable && itself.visibility === "public" && account.noindex !== true,
        head: isLocal ? previewTags(config, itself) : html``,
        body: html`<p class="thread-by"><a href="${way(profilePath(account.acct))}">${
          say("More from {account}", { account: `@${account.acct}` })
        }</a></p>${
          ancestors.length === 0 ?
            "" :
            html`<div class="ancestors">${
              ancestors.slice(-ancestorsMax).map((one) => articleOf(visit, one, { now, inThread: true }))
            }</div>`
        }${articleOf(visit, itself, { now, focused: true, inThread: ancestors.length > 0 })}${
          origin === undefined
            ? ""
            : html`<p class="soft">${say("Imported from an archive.")} <a rel="nofollow noopener" href="${origin}">${
              say("Original page")
            }</a></p>`
        }${
          viewer === undefined && config.federated && itself.reblog === null
            ? html`<p><a rel="nofollow" href="${way(interactPath(itself.url ?? itself.uri))}">${
              say("Reply from your own server")
            }</a></p>`
            : ""
        }${
          descendants.length === 0 ?
            "" :
            html`<h2>${say("Replies")}</h2>${treeHtml(visit, itself.id, descendants.slice(0, repliesMax), now)}`
        }${
          descendants.length <= repliesMax ?
            "" :
            html`<p class="soft empty">${say("More replies are on the pages of these posts.")}</p>`
        }`
      }
      return view
    }),
    Effect.succeed(config.limitedFederation)
  )

  const document = Effect.flatMap(HttpRouter.params, ({ id = "", name = "" }) => objects.respond(name, id, "note"))
  return HttpRouter.add("GET", "/@:name/:id", byType(document, page))
})

/** `/@name/ID`: a post with its ancestors, and its replies as a tree. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([ContextViews.layer, ImportOrigins.layer, StatusViews.layer])
)
