import { Effect } from "effect"
import { documentOf } from "../../instance/DocumentHtml.ts"
import { Drafts } from "../../statuses/Drafts.ts"

/** Renders a document of staff as sanitised HTML; null if it is too long. */
export type Rendered = (text: string) => Effect.Effect<string | null>

/** Returns the renderer of documents, which Mastodon stores as Markdown or HTML. */
export const documents = Effect.map(Drafts, (drafts): Rendered => (text) =>
  (/<[a-z][^<>]*>/i.test(text)
    ? Effect.succeed(text)
    : Effect.map(Effect.orDie(drafts.compose(text, "text/markdown")), ({ html }) => html)).pipe(
      Effect.flatMap(documentOf),
      Effect.orElseSucceed(() => null)
    ))
