import { Option, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { HttpServerResponse } from "effect/http"

/** Maximum characters of a notice, and of the whole cookie. Browsers keep cookies of up to 4,096 bytes. */
const textCharactersMax = 500
const cookieCharactersMax = 3_500
/** Lifetime of the cookie until the next page shows it, in milliseconds. */
const noticeMillis = 60_000

const FlashMessage = Schema.Struct({
  notice: Schema.String,
  undo: Schema.optionalKey(
    Schema.Struct({
      path: Schema.String.check(Schema.isPattern(/^\/(?:admin|web)[\w/.-]*(?:\?|$)/)),
      act: Schema.String,
      fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
    })
  )
})
/** Result of an action, kept in a cookie until the next page shows it. */
export type FlashMessage = typeof FlashMessage.Type

/** Result of an action, before it is stored; it may have fields that are not. */
type Result = Pick<FlashMessage, "notice"> & { readonly undo?: NonNullable<FlashMessage["undo"]> }

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(FlashMessage))

/** Encodes the cookie's value: cuts a long notice, and drops the undo form if the value is too long. */
const written = ({ notice, undo }: Result): string => {
  const text = notice.length > textCharactersMax ? `${notice.slice(0, textCharactersMax - 1)}…` : notice
  const of = (value: object) => Base64Url.encode(new TextEncoder().encode(JSON.stringify(value)))
  const withUndo = of({ notice: text.toWellFormed(), ...(undo !== undefined && { undo }) })
  return withUndo.length > cookieCharactersMax ? of({ notice: text.toWellFormed() }) : withUndo
}

/** Stores notices in a cookie that the next page deletes. A notice in the URL could be forged. */
export const flashMessages = (publicUrl: string) => {
  const secure = publicUrl.startsWith("https:")
  const name = secure ? "__Host-notice" : "notice"
  const attributes = { httpOnly: true, sameSite: "lax", secure, path: "/" } as const
  return {
    put: (response: HttpServerResponse.HttpServerResponse, done: Result) =>
      HttpServerResponse.setCookieUnsafe(response, name, written(done), { ...attributes, maxAge: noticeMillis }),
    read: (cookies: Readonly<Record<string, string>>): FlashMessage | undefined => {
      const value = cookies[name]
      if (!value || value.length > cookieCharactersMax) return undefined
      return Option.getOrUndefined(decode(Buffer.from(value, "base64url").toString("utf8")))
    },
    take: (response: HttpServerResponse.HttpServerResponse) =>
      HttpServerResponse.setCookieUnsafe(response, name, "", { ...attributes, maxAge: 0 })
  }
}
