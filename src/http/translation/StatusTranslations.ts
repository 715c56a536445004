import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Users } from "../../services/identity/Users.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { textsBy } from "../../services/statuses/Written.ts"
import { Translations } from "../../services/translation/Translations.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { id } from "../wire/Common.ts"
import { json } from "../wire/Keys.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { Translation, TranslationQuery, TranslationRequest } from "./wire/Translation.ts"

export class TranslationsGroup extends HttpApiGroup.make("translations")
  .add(
    HttpApiEndpoint.post("translate", "/api/v1/statuses/:id/translate", {
      params: StatusIdPath,
      query: TranslationQuery,
      payload: TranslationRequest,
      success: Translation
    }).annotate(Access, Access.user("read", "read:statuses"))
  )
  .middleware(Guard)
{}

/** Translations of posts into the reader's language (S-202). */
export const layer = group(
  TranslationsGroup,
  Effect.fn(function*(handlers) {
    const translations = yield* Translations
    const users = yield* Users
    return handlers.handleAll({
      translate: traced("translations.translate")(function*({ params, payload, query }) {
        const viewer = yield* Caller.account
        const request = yield* HttpServerRequest.HttpServerRequest
        const lang = payload.lang || query.lang
        // A requested language takes precedence over the reader's own.
        const reader = lang ? { lang } : {
          locale: Option.getOrUndefined(yield* users.find(viewer))?.locale,
          header: request.headers["accept-language"]
        }
        const found = yield* translations.translate(viewer, params.id, reader)
        return Reply.json(json<Translation>({
          detectedSourceLanguage: found.source,
          language: found.target,
          provider: found.provider,
          content: found.content,
          ...textsBy((field) => found[field]),
          poll: found.options.length === 0
            ? null
            : { id: id(found.statusId), options: found.options.map((title) => ({ title })) },
          mediaAttachments: found.media
        }))
      })
    })
  })
)
