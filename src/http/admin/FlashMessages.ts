import { Option, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { HttpServerResponse } from "effect/http"
import type { Done } from "./Visit.ts"

/** Characters of a notice, and of the whole cookie, of which browsers keep 4,096 bytes. */
const textCharactersMax = 500
const cookieCharactersMax = 3_500
/** How long the next page may be away, in milliseconds. */
const noticeMillis = 60_000

const Notice = Schema.Struct({
  notice: Schema.String,
  undo: Schema.optionalKey(
    Schema.Struct({
      path: Schema.String.check(Schema.isPattern(/^\/admin[\w/.-]*(?:\?|$)/)),
      act: Schema.String,
      fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
    })
  )
})
/** What an act came to, until the next page has told of it. */
export type Notice = typeof Notice.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Notice))

/** The cookie's value. What makes it too long is left out. */
const written = ({ notice, undo }: Done): string => {
  const text = notice.length > textCharactersMax ? `${notice.slice(0, textCharactersMax - 1)}…` : notice
  const of = (value: object) => Base64Url.encode(new TextEncoder().encode(JSON.stringify(value)))
  const whole = of({ notice: text.toWellFormed(), ...(undo !== undefined && { undo }) })
  return whole.length > cookieCharactersMax ? of({ notice: text.toWellFormed() }) : whole
}

/** Notices are in a cookie that the next page takes away: no address says what was done, so that none can be made up. */
export const notices = (publicUrl: string) => {
  const secure = publicUrl.startsWith("https:")
  const name = secure ? "__Host-notice" : "notice"
  const attributes = { httpOnly: true, sameSite: "lax", secure, path: "/" } as const
  return {
    put: (response: HttpServerResponse.HttpServerResponse, done: Done) =>
      HttpServerResponse.setCookieUnsafe(response, name, written(done), { ...attributes, maxAge: noticeMillis }),
    read: (cookies: Readonly<Record<string, string>>): Notice | undefined => {
      const value = cookies[name]
      if (!value || value.length > cookieCharactersMax) return undefined
      return Option.getOrUndefined(decode(Buffer.from(value, "base64url").toString("utf8")))
    },
    take: (response: HttpServerResponse.HttpServerResponse) =>
      HttpServerResponse.setCookieUnsafe(response, name, "", { ...attributes, maxAge: 0 })
  }
}
