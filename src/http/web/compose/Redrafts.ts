import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { Limits } from "../../guard/Limits.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import { WebPages } from "../shell/WebPages.ts"
import { ComposedPosts } from "./ComposedPosts.ts"
import { redraftPath } from "./ComposePage.ts"
import { statusId } from "./Composition.ts"
import { Compositions } from "./Compositions.ts"

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const compositions = yield* Compositions
  const limits = yield* Limits
  const pages = yield* WebPages
  const posts = yield* ComposedPosts
  const views = yield* StatusViews

  const redraft = pages.act(Effect.fnUntraced(function*({ reader: { words: { say } }, viewer }, form) {
    const id = statusId(form.get("id"))
    if (id === undefined) return yield* new RecordNotFound()
    const own = yield* compositions.ofOwn(viewer, id)
    const { inReplyToId, quote } = read(yield* views.renderOne(viewer, id))
    const redraft = {
      ...own,
      replyTo: statusId(inReplyToId),
      quote: statusId(quote?.quotedStatus?.id ?? null)
    }
    yield* limits.spend([{ limit: "deletion", key: String(viewer) }])
    // The text is safe before the post is deleted; its files are free only afterwards.
    const draft = yield* posts.save(viewer, { ...redraft, files: [] })
    yield* actors.tell(viewer, { _tag: "Delete", statusId: id, deleteMedia: false })
    if (redraft.files.length > 0) yield* posts.save(viewer, { ...redraft, draft })
    return { to: `/publish?draft=${draft}`, notice: say("The post was deleted. Its text is a draft now.") }
  }))
  return HttpRouter.add("POST", redraftPath, redraft)
})

/** Deletes a post, and opens it in the composer. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StatusViews.layer))
