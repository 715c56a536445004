import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { emojiDocument } from "../../services/federation/documents/EmojiDocument.ts"
import { noteContext } from "../../services/federation/documents/NoteDocument.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"

import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { document, refused } from "./DocumentResponse.ts"

/** `GET /emojis/:id`: an emoji of this server by its id, public (S-024). */
export const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const emojis = yield* CustomEmojis

  return Effect.gen(function*() {
    const { id = "" } = yield* HttpRouter.params
    const emoji = (yield* emojis.enabled).find((one) => String(one.id) === id)
    return emoji === undefined
      ? yield* refused(new RecordNotFound())
      : yield* document({ "@context": noteContext, ...emojiDocument(config, emoji) }, "everybody")
  })
})
