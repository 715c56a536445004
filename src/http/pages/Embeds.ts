import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../services/database/Ids.ts"
import { localPost } from "../../services/discovery/LocalPosts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { Posts } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"

const make = Effect.gen(function*() {
  const { limitedFederation, localDomain } = yield* ServerConfig
  const pages = yield* PublicPages
  const posts = yield* Posts
  const statuses = yield* Statuses

  const embed = Effect.gen(function*() {
    const { id: digits = "", name = "" } = yield* HttpRouter.params
    const id = parseId(digits)
    if (id === undefined) return yield* new RecordNotFound()
    const { record } = yield* localPost(statuses, name, id)
    const { words } = yield* pages.reader
    const [post] = yield* posts.show(words, record.reblogOfId === null ? [record.id] : [])
    if (post === undefined) return yield* new RecordNotFound()
    return yield* pages.embed({ words, title: `@${record.username}@${localDomain}`, body: post })
  }).pipe(Effect.catchTag("RecordNotFound", () => pages.notFound))

  return HttpRouter.add("GET", "/@:name/:id/embed", pages.guarded(limitedFederation, embed))
})

/** `/@name/ID/embed`: a single local post, which other sites may show in a frame. */
export const layer = Layer.unwrap(make)
