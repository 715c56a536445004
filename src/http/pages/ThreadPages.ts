import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { idMax } from "../../services/database/Ids.ts"
import { localPost } from "../../services/discovery/LocalPosts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { Contexts } from "../../services/statuses/Contexts.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { byType } from "../activitypub/DocumentResponse.ts"
import { ObjectDocuments } from "../activitypub/Objects.ts"
import { html } from "../html/Html.ts"
import { list, Posts } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"

/** Maximum ancestors and descendants on the page of a post. */
const ancestorsMax = 20
const descendantsMax = 60

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const contexts = yield* Contexts
  const objects = yield* ObjectDocuments
  const pages = yield* PublicPages
  const posts = yield* Posts
  const statuses = yield* Statuses

  const thread = Effect.gen(function*() {
    const { id: digits = "", name = "" } = yield* HttpRouter.params
    if (!/^[0-9]{1,19}$/.test(digits) || BigInt(digits) > idMax) return yield* new RecordNotFound()
    const { record, status } = yield* localPost(statuses, name, BigInt(digits))
    const { way, words } = yield* pages.reader
    const { ancestors, descendants } = yield* contexts.of(undefined, status)
    const [above, [itself], below] = yield* Effect.all([
      posts.show(words, ancestors.slice(-ancestorsMax)),
      posts.show(words, [status.id]),
      posts.show(words, descendants.slice(0, descendantsMax))
    ])
    if (itself === undefined) return yield* new RecordNotFound()
    return pages.respond({
      words,
      title: `@${record.username}@${config.localDomain}`,
      embedding: record.reblogOfId === null ? Urls.oEmbed(config, record.username, record.id) : undefined,
      body: html`
${above.length === 0 ? "" : list(above)}
<div class="focus">${itself}</div>
${below.length === 0 ? "" : html`<h2>${words.say("Replies")}</h2>${list(below)}`}
<p><a href="${way(`/@${record.username}`)}">${
        words.say("More from {account}", { account: `@${record.username}` })
      }</a></p>`
    })
  }).pipe(Effect.catchTag("RecordNotFound", () => pages.notFound))

  const document = Effect.flatMap(HttpRouter.params, ({ id = "", name = "" }) => objects.answer(name, id, "note"))
  return HttpRouter.add("GET", "/@:name/:id", byType(document, pages.guarded(config.limitedFederation, thread)))
})

/** `/@name/ID`: a local post with its public ancestors and replies. */
export const layer = Layer.unwrap(make)
