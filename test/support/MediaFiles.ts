import { Effect } from "effect"
import sharp from "sharp"
import { call } from "./Api.ts"
import type { Person } from "./Server.ts"

/** A picture that is not blank. */
export const picture = (width = 120, height = 80, background = "#2a6f97") =>
  sharp({ create: { width, height, channels: 3, background } }).composite([
    { input: { create: { width: Math.ceil(width / 3), height, channels: 3, background: "#f4a261" } }, left: 0, top: 0 }
  ])

/** Builds a multipart body of files and fields. */
export const form = (parts: Readonly<Record<string, string | Blob>>): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(parts)) {
    if (typeof value === "string") data.set(name, value)
    else data.set(name, value, "file")
  }
  return data
}

export const blob = (bytes: Uint8Array): Blob => new Blob([new Uint8Array(bytes)])

/** Uploads a file and waits until it is ready. */
export const uploaded = Effect.fnUntraced(function*(
  person: Person,
  bytes: Uint8Array,
  fields: Readonly<Record<string, string>> = {}
) {
  const { body, status } = yield* call("POST", "/api/v1/media", person.token, form({ file: blob(bytes), ...fields }))
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
})

/** Returns the bytes at a URL of this server. */
export const bytesAt = (url: string, headers: Record<string, string> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(url, { headers })
    return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
  })
